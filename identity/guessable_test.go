package identity

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
)

func TestAttackPasswordsThatAreTriedFirstAreRefused(t *testing.T) {
	for _, password := range []string{
		"password12", "Password1234!", "P@ssw0rd2027", "passwort123", "qwertyuiop", "qwertzuiop1", "1q2w3e4r5t6z", "asdfghjkl;", "zxcvbnm,./", "1234567890", "0987654321", "1111111111",
		"abcdefghij", "abcabcabcabc", "abababababab", "xyxyxyxyxyxy", "19.07.1985", "2027-01-31", "letmein2027", "Welcome2024!", "iloveyou123", "Sommer2026!!", "admin12345",
		"administrator", "adminadmin1", "changeme123", "volttron2026", "voltbus-admin", "MasterPassword", "trustno1trustno1", "ada.lovelace", "Lovelace1815", "ada.lovelace!1", "lovelace-ada", "AdaAdaAdaAda", "pass word 1", "monkeydragon",
		"qazwsxedc1", "12345678901234567890", "aaaaaaaaaab", "0p3ns3s4m3!",
	} {
		if err := checkPassword("ada.lovelace", password); err == nil {
			t.Errorf("%q is taken", password)
		} else if !strings.Contains(err.Error(), "words") {
			t.Errorf("%q: %v says nothing of what to do", password, err)
		}
	}
}

func TestPasswordsWithSomethingOfTheirOwnAreTaken(t *testing.T) {
	for _, password := range []string{
		"correct horse battery", "quite another secret", "four words make sense", "only-on-loopback", "tR4xq8!zwP", "a long password", "Kessel im Keller 7", "9f2c-b71e-0d8a-44ce-fa", "ünter den Linden", "корова на лугу",
	} {
		if err := checkPassword("ada.lovelace", password); err != nil {
			t.Errorf("%q: %v", password, err)
		}
	}
}

// Many passwords at once wait for memory and the processor only so long as somebody would wait for them.
func TestAttackMorePasswordsThanCanBeJudgedAreRefused(t *testing.T) {
	l := NewLogins(nil, time.Now)
	l.hashing.turn <- struct{}{} // one is judged, and takes its time
	waiting := make(chan error, maxHashing)
	for range maxHashing {
		go func() { waiting <- l.hashing.acquire(t.Context()) }()
	}
	for len(l.hashing.queue) < maxHashing {
		runtime.Gosched()
	}
	if err := l.hashing.acquire(t.Context()); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "try again") {
		t.Errorf("one more gets %v", err)
	}
	<-l.hashing.turn
	for range maxHashing {
		if err := <-waiting; err != nil {
			t.Error(err)
		}
		l.hashing.release()
	}
	if len(l.hashing.queue) > 0 || len(l.hashing.turn) > 0 {
		t.Errorf("%d wait and %d are judged afterwards", len(l.hashing.queue), len(l.hashing.turn))
	}
}
