package table

// Schema makes the tables, beside those of the registry, which follow. There are no keys: they would cost most of the engine's speed, and the store is the only writer.
const Schema = `
CREATE TABLE layout(version INTEGER, zone VARCHAR);
CREATE TABLE state(log VARCHAR, sequence UBIGINT, newest UINTEGER, exception UBIGINT, strays UBIGINT);
INSERT INTO state VALUES ('', 0, 0, 0, 0);
CREATE TABLE sources(number UINTEGER, stage UINTEGER, status UINTEGER, reason VARCHAR, who VARCHAR, rule VARCHAR);
CREATE TABLE verdicts(number UINTEGER, recorded UINTEGER, source UINTEGER);
CREATE TABLE uses(day INTEGER, channel UINTEGER, used INTEGER);
CREATE TABLE redo(day INTEGER, channel UINTEGER);
CREATE TABLE strays(meter VARCHAR, channel UINTEGER, "end" BIGINT, value DOUBLE, recorded UINTEGER, source UINTEGER);
CREATE TABLE exceptions(number UBIGINT, channel UINTEGER, day INTEGER, status UINTEGER, count UINTEGER, noticed UINTEGER);
CREATE TABLE settled(number UBIGINT, channel UINTEGER, day INTEGER, status UINTEGER, who VARCHAR, why VARCHAR, recorded UINTEGER, count UINTEGER);
CREATE TABLE days` + DayColumns + ";\n"

// FromFirst makes the layout out of version 1.
const FromFirst = `
ALTER TABLE days ADD COLUMN generation UINTEGER DEFAULT 0;
ALTER TABLE days ADD COLUMN taken UBIGINT DEFAULT 0;
ALTER TABLE days ADD COLUMN takenWaiting UBIGINT DEFAULT 0;
ALTER TABLE days ADD COLUMN done UINTEGER DEFAULT 0;
ALTER TABLE days ADD COLUMN totals UBIGINT DEFAULT 0;
ALTER TABLE settled ADD COLUMN count UINTEGER DEFAULT 0;
CREATE TABLE uses(day INTEGER, channel UINTEGER, used INTEGER);
CREATE TABLE redo(day INTEGER, channel UINTEGER);
UPDATE layout SET version = 2`
