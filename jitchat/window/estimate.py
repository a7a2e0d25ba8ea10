"""Owns the token estimate for when no vocabulary is at hand: o200k_base, judged by shape alone.

Invariant: an estimate is a sum over blocks, and a block starts at each line that does not start
with white space; so ``estimate(a + b) == estimate(a) + estimate(b)`` whenever ``a`` ends with a
newline and ``b`` does not start with white space. The time is linear in the length of any text.

The text is cut into pieces as o200k_base's own pattern cuts it; each piece is charged in hundredths
of a token by script, case and letter pairs, and only a block's sum is rounded. The prices are fits
to the true counts of prose in some 25 languages, source code, JSON and logs.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

_UPPER = r"A-Z\xc0-\xd6\xd8-\xde"
_LOWER = r"a-z\xdf-\xf6\xf8-\u02af\u0300-\u036f\u1e00-\u1eff"
_HAN = r"\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Marks belong to the letters before them, so the other scripts are whole blocks less their stops.
_OTHER = (
    r"\u0370-\u060b\u060d-\u061a\u061c-\u061e\u0620-\u0963\u0966-\u1cff\u1f00-\u1fff\u2c00-\u2dff"
    r"\u3130-\u318f\ua000-\ud7ff\ufb00-\ufdff\ufe70-\ufefc\uff21-\uff3a\uff41-\uff5a\uff66-\uffdc"
)
_MARK = r"!-/:-@\[-`{-~"
_LEAD = rf"[\t {_MARK}\xa0-\xbf\u2010-\u2044\u3001-\u3020\uff01-\uff0f\uff1a-\uff20]?"
_SUFFIX = r"(?i:'(?:[stmd]|re|ve|ll))?"
# Every repeat is bounded: no input makes matching quadratic, and pieces stay fit to be cached.
_PIECE = re.compile(
    rf"{_LEAD}[{_UPPER}]{{0,40}}[{_LOWER}]{{1,40}}{_SUFFIX}|{_LEAD}[{_UPPER}]{{1,40}}{_SUFFIX}"
    rf"|{_LEAD}[{_HAN}]{{1,40}}|{_LEAD}[{_OTHER}]{{1,40}}|\d{{1,3}}"
    rf"| ?[{_MARK}]{{1,64}}[\r\n/]{{0,16}}| ?[^\s\w\x00-\xa0{_LOWER}{_HAN}{_OTHER}]{{1,40}}"
    r"|\s{0,112}[\r\n]|\s{1,112}(?!\S)|\s{1,112}|.",
    re.DOTALL,
)
_WORD = re.compile(rf"({_LEAD})(?:([{_UPPER}{_LOWER}]+)('\w+)?|([{_HAN}]+)|([{_OTHER}]+))")
_BLOCK_END = re.compile(r"\n(?=\S)")
_NO_LETTER = re.compile("[^a-z]")
_LONG_RUN = re.compile(r"(.)\1{3,}", re.DOTALL)

# Letter pairs in 0.12 tokens, rows and columns being ` (the word's edge) and a to z. Common pairs
# are cheap, because the vocabulary holds the words that they make.
_PAIRS = (
    b"002111323123312434211222625551127534235223024331344205426752966201157287322145539"
    b"309550572031259147360188745015411639172303345614247445103113235325312330212432035"
    b"318261159086214166240095836032391540271233477323248895101361846072201236340277654"
    b"710122226444221022321727471532842768360362355938473768323531313275473590722474765"
    b"111631023095315214422025717312660759297329337935474869227002303213402347710124856"
    b"401114003322100105122021222009231361399118140021246638679678789989279794996099898"
    b"116331313041401260321231616137231262176538321611271708226321270082416300334380602"
    b"500221125145001617021545344428640989178628398887693757206960282177320397415862048"
    b"204264475267905625953867226008393878365336226333395893418551659286463465986183607"
)
# What a word spends on pairs before it costs a second token, by lead (none, space, a mark that
# merges with words, one that does not) and by case (lower, Capital, UPPER).
_CREDIT = (
    (125, 138, 84),
    (141, 150, 107),
    (99, 96, 81),
    (37, 28, -4),
)
_PAIR_PRICE = (120, 140, 144)
_MERGING = "_.(\t<#'?&@\\-\u2019"
_UNFOLDED = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe"})

_VIETNAMESE = re.compile(r"[ƠơƯư\u1ea0-\u1ef9]|^.{,3}[ĂăĐđ]")
# Syllables that are one token after a space, and the price of any other by lead and case.
_SYLLABLES = (
    " một của được thể để với những bị người về từ đã số dụng phần hơn trước sẽ bản định nhiều"
    " bạn động phải chỉ lại cả mới ở sử tập nhất đến hoặc đó đặt vị nước năm tiếng chủ bằng đầu"
    " đi việc nhưng đơn bộ hệ tạo hợp chiến thực lỗi chuyển biết mục lớn bảo trường như đổi giờ"
    " giữ thống tự nhận năng lượng chế thế chọn ăn thức vừa bỏ tối cấp đều thời thường học nhỏ"
    " hiện kết trị rất dịch điều họ thấy độ mỗi liệu sản lưu tăng sự tiền đang khoản cần nghiệp"
    " vụ chạy ứng mạnh đối gần trở thị nhớ dữ vẫn thử đường tiếp tại vật xuất trời thứ rồi cơ"
    " cuối sống biệt chơi đồng mềm lập nếu tốt nhập mức giữa biến địa đấu cảnh thuật đội điểm đây"
    " rằng tiến hồi đề cuộc đồ dễ văn lần mở giới muốn chưa giải vậy mọi gửi đại sửa gặp đủ đánh"
    " vấn cảm đất nội tuổi thương quốc hội mặt thật nữa dưới quả mẹ "
)
_SYLLABLE_PRICE = ((200, 200, 220), (148, 165, 190), (235, 235, 250), (250, 250, 260))

# Two-character words of Chinese that are one token, side by side.
_CHINESE = (
    "使用可以软件文件一个我们系统如果需要可能用户他们列表安装工作没有版本数据所有部分时间程序自己"
    "这些或者问题这个其他了一中的正在資料今天是一方式非常单位就是完全提供任何管理不是通过进行到了"
    "配置自由每天一些大的服务新的必须以及都是安全利用表示不要但是上下项目你的不能选择之前网络公司"
    "控制情况开始发现之一百分不同晚上最后内容開始生产自动一起您好同时这里上的因为的人建议显示沒有"
    "注意相关更新已经运行历史然后指定完成十分发布不会方法所以其中能够目录例如只是存在返回应该要求"
    "第二窗口一次环境方便操作服務最近人工那些信息星期第一解释以后公布作为昨天支持具有模式基础错误"
    "全部创建这样造成复杂得到生成人的几个能力语言找到功能好的設定执行只有時間那么安排格式主要为了"
    "研究需求代码修改包括比如合作技术消息报告一直提升更多名稱在线根据收到內容出现力量出来資訊中国"
    "帮助这种状态重要大量因此那个特别对于位置其它讨论密码生命小时增长长期删除文化空间一点之间描述"
    "模型名称目标下午过程手机投资电影关于影响设置测试质量应用看到增加简单两个确认原因时候认为改变"
    "虽然如何不过也是游戏地方平台甚至努力基本效果东西准备知道起来程度問題公共计划喜欢生活决定孩子"
    "世界企業妈妈汽车交通医生手機中國現在现在电子事情当前数字解决希望作者最後时代我的设计现代比较"
    "结果关系记录继续说明社会政府企业朋友电话电脑分钟产品发展科学医院大学学校美国活动作品音乐故事"
)
_CHINESE_WORD = re.compile("|".join(re.findall("..", _CHINESE)))
_HIRAGANA, _KATAKANA = re.compile(r"[\u3040-\u309f]"), re.compile(r"[\u30a0-\u30ff]")

# Other scripts: first code point; tenths of a letter in the first token; price of each letter more.
_SCRIPTS = (
    (0xAC00, 8, 58), (0xA000, 10, 80), (0x1F00, 30, 46), (0x1100, 0, 60), (0x10A0, 22, 33),
    (0xE80, 0, 60), (0xE00, 0, 37), (0x900, 24, 28), (0x600, 24, 28), (0x590, 20, 36),
    (0x530, 22, 30), (0x400, 26, 20), (0, 30, 46),
)  # fmt: skip
# Price of each further character of a long run, by the character; an emoji is never merged.
_RUNS = (("=-*_.#/%+~", 0), ("!:;<>?@^aflox\u2014\u2026\u2500", 12), ("&[]`{}gjnpqtuwz", 50))


def estimate(text: str) -> int:
    """Estimated o200k_base tokens of ``text``: 0 for the empty string, else at least 1."""
    *blocks, last = _BLOCK_END.split(text)
    return sum(_tokens(block + "\n") for block in blocks) + (_tokens(last) if last else 0)


def _tokens(block: str) -> int:
    return max(1, round(sum(map(_charge, _PIECE.findall(block))) / 100))


@lru_cache(maxsize=1 << 16)
def _charge(piece: str) -> int:
    """Hundredths of a token for one piece."""
    if word := _WORD.fullmatch(piece):
        lead, latin, suffix, han, other = word.groups(default="")
        if latin:
            return _latin(lead, latin) + (15 if suffix else 0)
        return _han(lead, han) if han else _other(lead, other)
    if piece.isspace():
        return 100 + (len(piece) - piece.count(" ")) // 16 * 100
    return 100 if piece.isdecimal() else _marks(piece.strip())


def _latin(lead: str, word: str) -> int:
    kind = 0 if not lead else 1 if lead == " " else 2 if lead in _MERGING else 3
    case = 0 if word.islower() else 2 if word.isupper() and len(word) > 1 else 1
    plain, accents = word.lower(), 0
    if not word.isascii():
        if len(word) < 8 and _VIETNAMESE.search(word):
            return 100 if kind == 1 and f" {word} " in _SYLLABLES else _SYLLABLE_PRICE[kind][case]
        folded = unicodedata.normalize("NFD", plain.translate(_UNFOLDED))
        plain = _NO_LETTER.sub("", folded)
        accents = 19 + 37 * max(1, len(folded) - len(plain))
    short = _LONG_RUN.sub(r"\1\1\1", plain) if len(plain) > 7 else plain
    pairs = sum([_PAIRS[27 * a + b - 28 * 96] for a, b in pairwise(b"`%b`" % short.encode())])
    spent = _PAIR_PRICE[case] * (pairs - 48 * len(short) - 48) // 10 + accents - _CREDIT[kind][case]
    return 100 + max(0, spent) + _repeats(plain, short)


def _han(lead: str, word: str) -> int:
    rest, known = _CHINESE_WORD.subn("", word)
    hiragana, katakana = len(_HIRAGANA.findall(rest)), len(_KATAKANA.findall(rest))
    # GB 2312 orders its characters by use: 0xB0 to 0xD7 everyday Chinese, from 0xD8 the literary.
    ranks = rest.encode("gb2312", "ignore")[::2]
    literary = sum(rank >= 0xD8 for rank in ranks)
    everyday = sum(rank >= 0xB0 for rank in ranks) - literary
    foreign = len(rest) - hiragana - katakana - everyday - literary
    charge = 68 * known + 90 * everyday + 190 * literary + 123 * foreign
    return max(100, charge + 74 * hiragana + 46 * katakana + (60 if lead else 0))


def _other(lead: str, word: str) -> int:
    first = ord(word[0])
    free, price = next((free, price) for start, free, price in _SCRIPTS if start <= first)
    ukrainian = 50 * sum(map(word.count, "іїєґ"))
    letters = max(0, len(word) * 10 - free) * price // 10
    return 100 + letters + ukrainian + (40 if lead.strip() else 0)


def _marks(run: str) -> int:
    bare = run.rstrip("/") or run
    short = _LONG_RUN.sub(r"\1", bare)
    repeats = _repeats(bare, short)
    if run.isascii():
        of_json = sum(map(short.count, '",:{}[]'))
        return 100 + max(0, 50 * len(short) - 20 * of_json - 100) + repeats
    wide = sum(95 if char > "\uffff" else 20 if char > "\u218f" else 0 for char in short)
    return 45 + 55 * len(short) + wide + repeats


def _repeats(run: str, short: str) -> int:
    if len(run) == len(short):
        return 0
    price = 120 if run[-1] > "\uffff" else next((p for c, p in _RUNS if run[-1] in c), 25)
    return (len(run) - len(short)) * price
