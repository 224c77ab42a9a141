package enum

import (
	"embed"
	"strconv"
	"strings"
	"sync"
)

//go:embed table/*.txt
var fileTable embed.FS

// table is one enumeration of the standard.
type table struct {
	names   map[uint32]string
	symbols map[uint32]string
	numbers map[string]uint32

	once     sync.Once
	symbolic map[string]uint32
}

// load reads a table when it is first used.
func load(kind string) func() *table {
	return sync.OnceValue(func() *table {
		t := &table{names: map[uint32]string{}, symbols: map[uint32]string{}, numbers: map[string]uint32{}}
		text, err := fileTable.ReadFile("table/" + kind + ".txt")
		if err != nil {
			panic(err) // the file is compiled into the program
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			n, err := strconv.ParseUint(fields[0], 10, 32)
			if err != nil {
				panic(err)
			}
			t.names[uint32(n)] = fields[1]
			t.numbers[fields[1]] = uint32(n)
			if len(fields) > 2 {
				t.symbols[uint32(n)] = fields[2]
			}
		}
		return t
	})
}

var (
	objectTypeTable  = load("objecttype")
	propertyTable    = load("property")
	unitTable        = load("unit")
	errorClassTable  = load("errorclass")
	errorCodeTable   = load("errorcode")
	rejectTable      = load("reject")
	abortTable       = load("abort")
	eventStateTable  = load("eventstate")
	eventTypeTable   = load("eventtype")
	reliabilityTable = load("reliability")
)

func (t *table) name(n uint32) string {
	if name, ok := t.names[n]; ok {
		return name
	}
	return strconv.FormatUint(uint64(n), 10)
}

// bySymbol returns the numbers of symbols: the smallest if several have one.
func (t *table) bySymbol() map[string]uint32 {
	t.once.Do(func() {
		t.symbolic = make(map[string]uint32, len(t.symbols))
		for n, symbol := range t.symbols {
			if before, twice := t.symbolic[symbol]; symbol != "-" && (!twice || n < before) {
				t.symbolic[symbol] = n
			}
		}
	})
	return t.symbolic
}

// parse returns the number of a name, or of a number's text up to most.
func (t *table) parse(text string, most uint32) (uint32, bool) {
	if n, ok := t.numbers[strings.ToLower(text)]; ok {
		return n, true
	}
	if n, ok := t.numbers[text]; ok {
		return n, true
	}
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err == nil && uint32(n) <= most
}
