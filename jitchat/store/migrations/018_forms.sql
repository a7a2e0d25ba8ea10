-- What windows carry of a turn can change, and so can what it costs.

CREATE TRIGGER costs_by_tools AFTER UPDATE OF tools ON turns WHEN old.tools IS NOT new.tools BEGIN
    DELETE FROM turn_costs WHERE conversation = new.conversation AND last >= new.position;
END;
