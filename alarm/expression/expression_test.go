package expression_test

import (
	"strings"
	"testing"

	"voltbus/alarm/expression"
	"voltbus/fault"
)

// values are those of a test: numbers, a text, and one that is not known.
func values(name string) expression.Value {
	switch name {
	case "supply":
		return expression.NumberOf(41)
	case "return", "{b1/return temp}":
		return expression.NumberOf(40)
	case "pump":
		return expression.TruthOf(true)
	case "mode":
		return expression.TextOf("auto")
	}
	return expression.Value{}
}

func TestAConditionHolds(t *testing.T) {
	for text, want := range map[string]string{
		"supply - return < 2 and pump == 1":          "yes",
		"supply - {b1/return temp} < 2 and pump":     "yes",
		"supply - return - 1 == 0":                   "yes",
		"2 + 3 * 4 == 14":                            "yes",
		"(2 + 3) * 4 == 14":                          "no",
		"12 / 3 / 2 == 2":                            "yes",
		"-supply < -40 and - - 1 == 1":               "yes",
		"supply > 50 or pump and not (return >= 41)": "yes",
		"not pump":                  "no",
		"not not pump":              "yes",
		`mode == "auto"`:            "yes",
		`mode != "auto"`:            "no",
		`mode == 1`:                 "unknown",
		"mode and pump":             "unknown",
		"abs(return - supply) <= 1": "yes",
		"max(supply, return, 7) == 41 and min(1.5e1, 2) == 2": "yes",
		"supply / 0 > 1":          "unknown",
		"gone > 1":                "unknown",
		"gone > 1 or pump":        "yes",
		"gone > 1 and not pump":   "no",
		"gone > 1 and pump":       "unknown",
		"not (gone > 1)":          "unknown",
		"pump":                    "yes",
		"pump != false":           "yes",
		"true":                    "yes",
		"(supply - 41) or false":  "error", // a number is no condition
		"supply":                  "yes",
		"(supply > 1) == (1 > 0)": "error",
		"1e400 > 1":               "error",
	} {
		e, err := expression.Parse(text)
		if want == "error" {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := "unknown"
		if holds, known := e.Holds(values); known && holds {
			got = "yes"
		} else if known {
			got = "no"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestAnErrorSaysWhereAndWhatToWrite(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "character 1: it ends where a value is expected",
		"supply = 2":                             `character 8: "=" means nothing here; write == to compare`,
		"supply < 2 && pump":                     `character 12: "&" means nothing here; write and`,
		"supply < 2 | pump":                      "write or",
		"!pump":                                  "character 1",
		"é < 2":                                  `character 1: "é" means nothing`,
		"supply - ":                              "character 10: it ends",
		"(supply < 2":                            `character 12: ")" is missing at the end`,
		"supply < 2)":                            `character 11: ")" is not expected`,
		"1 < supply < 3":                         "character 12: two comparisons stand in a row",
		"supply - return":                        "character 1: it is a number",
		"supply < 2 and 3":                       `character 12: "and" needs a condition`,
		`mode == "auto`:                          "character 9: the text has no end",
		"{b1/return > 2":                         "character 1: the path has no end",
		"1.2.3 > 1":                              `character 1: "1.2.3" is not a number`,
		"sqrt(supply) > 2":                       `character 1: "sqrt" is not a function; there are abs, min and max`,
		"abs(1, 2) > 1":                          "abs takes one number",
		"min(1 2) > 1":                           `character 7: ")" is missing before "2"`,
		"and > 1":                                `character 1: "and" is not expected`,
		"(supply > 1) + 1 > 2":                   `needs a number or an input`,
		"supply pump":                            `character 8: "pump" is not expected here`,
		strings.Repeat("(", 60):                  "nested more than 50 times",
		strings.Repeat("not ", 60):               "nested more than 50 times",
		strings.Repeat("-", 60):                  "nested more than 50 times",
		"1" + strings.Repeat("+1", 600) + " > 1": "more than 500 parts",
		strings.Repeat("1", 5000):                "at most 4096 bytes",
		"\xff > 1":                               "UTF-8",
	} {
		if _, err := expression.Parse(text); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
}

func TestTheInputsAreNamedOnce(t *testing.T) {
	e, err := expression.Parse("supply - {b/return} < 2 and {b/return} > supply")
	if err != nil || strings.Join(e.Names(), " ") != "supply {b/return}" {
		t.Errorf("%v, %v", e, err)
	}
}

// Whatever somebody writes is read or refused, and what was read is evaluated; values that are not known never make a condition known that is not so with
// every value in their place.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"supply - return < 2 and pump == 1", `not (mode == "auto" or gone)`, "max(1, {a/b}) >= 1e3 / -x", "((1", "min(abs(supply),2)!=0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := expression.Parse(text)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		none := func(string) expression.Value { return expression.Value{} }
		sure, known := e.Holds(none)
		for _, v := range []expression.Value{expression.NumberOf(0), expression.NumberOf(1), expression.NumberOf(-3.5), expression.TextOf("auto"), expression.TruthOf(true)} {
			holds, is := e.Holds(func(string) expression.Value { return v })
			if known && (!is || holds != sure) {
				t.Fatalf("%q is %v whatever the values are, and %v, %v with %v", text, sure, holds, is, v)
			}
		}
	})
}
