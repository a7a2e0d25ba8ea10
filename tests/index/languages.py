"""Turns in many languages, each with a question that names something in it exactly."""

from __future__ import annotations

from tests.index.kinds import Kind

LANGUAGES = (
    Kind(
        "Vietnamese, asked without its marks",
        "Chuyến bay đến Đà Nẵng bị hoãn đến chín giờ tối.",
        "chuyen bay den da nang bi hoan den may gio?",
        ("Chuyến bay đến Đà Lạt bị hoãn.", "Nắng đã lên ở Hà Nội từ chín giờ."),
    ),
    Kind(
        "Vietnamese, written without its marks",
        "khach san o quan Phu Nhuan, gan cho, 700 nghin mot dem",
        "Khách sạn ở quận Phú Nhuận bao nhiêu một đêm?",
        ("khach san o quan Tan Binh, 500 nghin mot dem",),
    ),
    Kind(
        "Chinese",
        "会议改到星期四下午三点，地点在虹桥火车站旁边的新办公室。",
        "虹桥的办公室什么时候开会？",
        ("会议改到星期五上午九点，地点在浦东机场旁边。", "新办公室的桥很红，火车很慢。"),
    ),
    Kind(
        "Chinese with an identifier in the middle of it",
        "请把配置文件config.prod.yaml里的超时改成三十秒。",
        "config.prod.yaml里改了什么？",
        ("请把配置文件prod.config.yaml里的超时删掉。",),
    ),
    Kind(
        "Japanese",
        "新しいサーバーの名前は「うみねこ」に決まりました。",
        "うみねこって何の名前？",
        ("古いサーバーの名前は「ふくろう」でした。", "ねこの名前は海から来た。"),
    ),
    Kind(
        "Korean",
        "회의는 강남역에서 세 시에 시작합니다.",
        "강남역 회의는 몇 시에 해요?",
        ("회의는 서울역에서 네 시에 시작합니다.", "강남에 있는 회의실은 작아요."),
    ),
    Kind(
        "Thai",
        "เรานัดกันที่เชียงใหม่วันเสาร์ ตอนเก้าโมงเช้า",
        "นัดกันที่เชียงใหม่วันไหน",
        ("เรานัดกันที่เชียงรายวันอาทิตย์", "ที่กรุงเทพ เราเปลี่ยนวันกันบ่อย"),
    ),
    Kind(
        "Hindi",
        "बैठक शुक्रवार को दिल्ली के पुराने दफ़्तर में है।",
        "दिल्ली की बैठक कब है?",
        ("बैठक सोमवार को मुंबई के नए दफ़्तर में है।", "दाल और लाल मिर्च कब लानी है?"),
    ),
    Kind(
        "Arabic, written with its marks",
        "الاجتماعُ في القاهرةِ يومَ الخميسِ الساعةَ العاشرة.",
        "متى الاجتماع في القاهرة؟",
        ("الاجتماعُ في الإسكندريةِ يومَ الأحد.", "القهوة في الاجتماع باردة."),
    ),
    Kind(
        "Greek, asked in capitals",
        "Το τρένο για τη Θεσσαλονίκη φεύγει στις επτά.",
        "ΠΟΤΕ ΦΕΥΓΕΙ ΤΟ ΤΡΕΝΟ ΓΙΑ ΤΗ ΘΕΣΣΑΛΟΝΙΚΗ;",
        ("Το τρένο για την Πάτρα φεύγει στις οκτώ.",),
    ),
    Kind(
        "Russian",
        "Ещё не пришёл ответ из Владивостока, ждём до среды.",
        "Пришел ответ из Владивостока?",
        ("Ответ из Хабаровска пришёл во вторник.",),
    ),
    Kind(
        "German compound",
        "Die Donaudampfschifffahrt ruht bis Ostern, sagt der Kapitän.",
        "Wie lange ruht die Donaudampfschifffahrt?",
        ("Das Dampfschiff auf der Donau fährt bis Ostern.", "Die Schifffahrt ruht nie."),
    ),
    Kind(
        "German, with a sharp s",
        "Wir treffen uns in der Schloßstraße 14, zweiter Stock.",
        "Wer trifft sich in der Schlossstrasse 14?",
        ("Wir treffen uns an der Straße zum Schloß, um 14 Uhr.",),
    ),
    Kind(
        "French, after an article",
        "On se retrouve devant l’église à midi, puis chez Odile.",
        "C'est quelle heure, église?",
        ("On se retrouve devant la mairie à midi.",),
    ),
    Kind(
        "Turkish, with a dotless i and a suffix",
        "Perşembe günü Diyarbakır'a bilet aldım, pencere kenarı.",
        "DIYARBAKIR bileti hangi gün?",
        ("Cuma günü Ankara'ya bilet aldım.",),
    ),
    Kind(
        "Polish",
        "Spotkanie w Łodzi przeniesiono na środę, sala Źródło.",
        "Kiedy spotkanie w Lodzi, sala Zrodlo?",
        ("Spotkanie w Krakowie przeniesiono na czwartek.",),
    ),
    Kind(
        "emoji around an identifier",
        "🔑🔑 the spare one is K7Q2-88XA 👩‍💻🇳🇱 don't lose it",
        "Which one is K7Q2-88XA?",
        ("🔑 the broken one is 88XA-K7Q2 👩‍💻",),
    ),
    Kind(
        "full-width digits",
        "注文番号は１２３４５－６７です。",
        "注文番号12345-67はどれ？",
        ("注文番号は１２３４６－５７です。",),
    ),
)
