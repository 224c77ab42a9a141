package template_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"voltbus/broker/template"
)

// The items are those of RFC 8949, appendix A, in a map with the key "v".
func TestCBORIsReadLikeJSON(t *testing.T) {
	set := compile(t, `[{name: t, topic: t, device: d, format: cbor, points: [{name: v}]}]`)
	for item, want := range map[string]string{
		"00": "0", "1864": "100", "1b000000e8d4a51000": "1e+12", "20": "-1", "3903e7": "-1000", "f93e00": "1.5", "f90001": "5.960464477539063e-08",
		"fa47c35000": "100000", "fb3ff199999999999a": "1.1", "f5": "true", "f4": "false", "f6": "null bad(sensor)", "6161": `"a"`, "f97e00": "null bad(sensor)",
		"c11a514b67b0": "1.363896240e+09", "7f657374726561646d696e67ff": `"streaming"`, "44010203ff": `"010203ff"`, "fbc010666666666666": "-4.1",
	} {
		payload, err := hex.DecodeString("a16176" + item)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		err = set.Find("t").Take(at(), "t", payload, func(r *template.Reading) {
			text := string(r.Value.AppendJSON(nil))
			if !r.Quality.IsGood() {
				text += " " + r.Quality.String()
			}
			got = append(got, text)
		})
		n, m := 0.0, 0.0
		_, isN := fmt.Sscan(strings.Join(got, ""), &n)
		_, isM := fmt.Sscan(want, &m)
		if err != nil || strings.Join(got, " ") != want && (isN != nil || isM != nil || n != m) {
			t.Errorf("%s: %q, %v, want %s", item, got, err, want)
		}
	}
}

func TestNestedCBORAndSenMLInCBOR(t *testing.T) {
	set := compile(t, `[{name: t, topic: t, device: d, format: cbor, points: [{name: x, from: "a.b[1]"}]}, {name: s, topic: s, device: d, format: senml-cbor}]`)
	for topic, c := range map[string]struct{ payload, want string }{
		"t": {"bf6161a161629f0102ffff", "x=2"},
		// [{-2: "pump/", 0: "power", 1: "W", 2: 120.5}, {0: "on", 4: true}]
		"s": {"82a4216570756d702f0065706f776572016157" + "02fb405e200000000000" + "a200626f6e04f5", "pump/power=120.5 pump/on=true"},
	} {
		payload, err := hex.DecodeString(c.payload)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		err = set.Find(topic).Take(at(), topic, payload, func(r *template.Reading) {
			got = append(got, r.Name+"="+string(r.Value.AppendJSON(nil)))
		})
		if strings.Join(got, " ") != c.want || err != nil {
			t.Errorf("%s: %q, %v", topic, got, err)
		}
	}
}

func FuzzCBOR(f *testing.F) {
	for _, text := range []string{"a161761864", "9f0102ff", "5fff", "bf6161a161629f0102ffff", "c1c1c1c100"} {
		b, _ := hex.DecodeString(text)
		f.Add(b)
	}
	set := compile(f, `[{name: t, topic: t, device: d, format: cbor, rest: true}, {name: s, topic: s, device: d, format: senml-cbor}]`)
	f.Fuzz(func(_ *testing.T, payload []byte) {
		for _, topic := range []string{"t", "s"} {
			_ = set.Find(topic).Take(at(), topic, payload, func(*template.Reading) {})
		}
	})
}
