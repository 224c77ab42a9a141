package uplink_test

import (
	"encoding/json"
	"strings"
	"testing"

	"voltbus/fault"
	"voltbus/uplink"
)

func TestMessagesWithUnknownFieldsAndWithoutOptionalOnesAreRead(t *testing.T) {
	var h uplink.Hello
	if err := json.Unmarshal([]byte(`{"protocol":2,"later":{"a":[1]},"origins":{"a~1":{"sequence":3,"samples":9,"digest":"x"}}}`), &h); err != nil {
		t.Fatal(err)
	}
	if h.Protocol != 2 || h.Origins["a~1"] != (uplink.Position{Sequence: 3, Samples: 9}) {
		t.Errorf("the greeting reads %+v", h)
	}
	var w uplink.Welcome
	if err := json.Unmarshal([]byte(`{"protocol":1,"lanes":["n","u","x"]}`), &w); err != nil || w.Protocol != 1 {
		t.Errorf("the welcome reads %+v, %v", w, err)
	}
	a, err := uplink.ParseAnswer([]byte(`{"origin":"a~1","sequence":4,"later":true,"failure":{"kind":"later","message":"no","hint":"x"}}`))
	if err != nil || a.Sequence != 4 || a.Epoch != 0 || a.Err() == nil {
		t.Errorf("the answer reads %+v, %v", a, err)
	}
}

func TestVersionsTooFarApartAreRefusedWithWhatToDo(t *testing.T) {
	for protocol := uplink.OldestProtocol; protocol <= uplink.NewestProtocol; protocol++ {
		if err := uplink.Understand(protocol, "plant", "campus"); err != nil {
			t.Errorf("version %d: %v", protocol, err)
		}
	}
	for protocol, advice := range map[int]string{
		-1: "update the program of plant", uplink.OldestProtocol - 1: "update the program of plant",
		uplink.NewestProtocol + 1: "update the program of campus", 99: "update the program of campus",
	} {
		if err := uplink.Understand(protocol, "plant", "campus"); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), advice) {
			t.Errorf("version %d: %v, want: %s", protocol, err, advice)
		}
	}
	frame := uplink.Frame{Epoch: 1, Block: []byte("block")}
	data := frame.Append(nil)
	data[0]++
	if _, err := uplink.ParseFrame(data); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "update this node first") {
		t.Errorf("a frame of the next version: %v", err)
	}
}
