package identity

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

var errGuessable = errors.New("is among the first that anybody tries: a common word, a row of keys, a date, a repetition or the own name " +
	"with little else; write several words that do not belong together")

// ownLetters is how many characters of a password must belong neither to common words, nor to the name, nor
// to runs of keys, nor be digits.
const ownLetters = 4

// guessable reports whether a password consists of little more than what guesses start with. name is the
// user's name.
func guessable(name, password string) bool {
	// Customary letter substitutions are undone.
	unleet := strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "@", "a", "$", "s", "!", "i", "€", "e", "+", "t")
	plain := strings.ToLower(password)
	for _, text := range []string{plain, unleet.Replace(plain)} {
		if ownPart(name, text) < ownLetters || ownPart(name, strings.Map(letter, text)) < ownLetters {
			return true
		}
	}
	return false
}

// letter drops characters that are not letters.
func letter(r rune) rune {
	if unicode.IsLetter(r) {
		return r
	}
	return -1
}

// ownPart returns how many letters of a lower-case text remain without the parts that guesses start with.
func ownPart(name, text string) int {
	const gap = " " // the text on either side of a removed word is not joined
	for _, part := range nameParts(name) {
		text = strings.ReplaceAll(text, part, gap)
	}
	text = withoutWords(text)
	letters := make([]rune, 0, len(text))
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters = append(letters, r)
		} else if n := len(letters); n > 0 && letters[n-1] != ' ' {
			letters = append(letters, ' ')
		}
	}
	return len(withoutRuns(letters))
}

// nameParts returns the name and its words, longest first, unless they are short enough to occur by accident.
func nameParts(name string) []string {
	name = strings.ToLower(name)
	parts := append([]string{name}, strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })...)
	parts = append(parts, strings.TrimRightFunc(name, unicode.IsDigit))
	var out []string
	for _, p := range parts {
		if utf8.RuneCountInString(p) >= 3 {
			out = append(out, p)
		}
	}
	return out
}

// withoutRuns returns the letters that continue neither a row of keys or the alphabet, nor a repetition with
// a period of up to four letters.
func withoutRuns(letters []rune) []rune {
	var own []rune
	for i, r := range letters {
		if r == ' ' || (i > 0 && neighbours(letters[i-1], r)) || repeats(letters, i) {
			continue
		}
		own = append(own, r)
	}
	return own
}

// neighbours reports whether two letters are adjacent on a keyboard or in the alphabet.
func neighbours(a, b rune) bool {
	for _, row := range keyRows() {
		if strings.Contains(row, string([]rune{a, b})) || strings.Contains(row, string([]rune{b, a})) {
			return true
		}
	}
	return false
}

func repeats(letters []rune, i int) bool {
	for period := 1; period <= 4 && period <= i; period++ {
		if same(letters, i, period) {
			return true
		}
	}
	return false
}

// same reports whether the letter, and those before it for a whole period, repeat the previous period.
func same(letters []rune, i, period int) bool {
	for j := i; j > i-period; j-- {
		if j-period < 0 || letters[j] != letters[j-period] {
			return false
		}
	}
	return true
}

// keyRows are the rows of letters on keyboards, and the alphabet.
func keyRows() []string {
	return []string{
		"qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiopü", "asdfghjklöä", "yxcvbnm", "azertyuiop", "qsdfghjklm", "wxcvbn",
		"abcdefghijklmnopqrstuvwxyz", "qaz", "wsx", "edc", "rfv", "tgb", "yhn", "ujm", "qay", "yhn",
	}
}

// withoutWords removes the words that most guesses start with.
func withoutWords(text string) string {
	words := commonWords()
	pairs := make([]string, 0, 2*len(words))
	for _, w := range words {
		pairs = append(pairs, w, " ")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// commonWords are the words that password guesses try first, including obvious ones for a node of an
// automation network. A prefix of a longer word comes after it.
func commonWords() []string {
	return []string{
		// names for a password
		"passwords", "password", "passwort", "passphrase", "passwd", "passord", "wachtwoord", "motdepasse", "contraseña", "contrasena", "senha",
		"parola", "geheim", "secrets", "secret", "changeme", "changeit", "letmein", "opensesame", "sesame", "default", "trustno", "access", "login", "logon",
		"welcome", "willkommen", "bienvenue", "bienvenido", "hello", "hallo", "nopass", "whatever", "pass",
		// accounts and this trade
		"administrator", "adminadmin", "admin", "superuser", "sysadmin", "toor", "root", "users", "user", "guest", "demo", "testing", "tester", "test", "temporary", "temp", "public",
		"private", "operators", "operator", "engineer", "viewer", "service", "support", "manager", "supervisor", "master", "server", "system", "oracle", "mysql", "postgres", "raspberry", "ubuntu",
		"voltbus", "volttron", "modbus", "bacnet", "scada", "dnp3", "building", "energy", "power", "meter", "plant", "node", "bus",
		// what people like
		"iloveyou", "loveyou", "lovely", "love", "sunshine", "princess", "prince", "dragon", "monkey", "football", "fussball", "baseball", "basketball", "soccer", "hockey", "superman", "batman", "spiderman", "pokemon",
		"starwars", "matrix", "shadow", "michael", "jennifer", "jessica", "charlie", "daniel", "thomas", "andrew", "ashley", "jordan", "george", "robert", "hunter", "killer", "ranger", "buster", "tigger", "tiger", "pepper",
		"cookie", "chocolate", "cheese", "banana", "orange", "apple", "flower", "butterfly", "freedom", "liverpool", "chelsea", "arsenal", "barcelona", "juventus", "ferrari", "mercedes", "porsche", "harley", "mustang", "yamaha",
		"computer", "internet", "google", "facebook", "samsung", "microsoft", "windows", "android", "linkedin", "blink", "purple", "silver", "golden", "summer", "sommer", "winter", "spring", "frühling", "autumn", "herbst",
		"schatz", "hottie", "qwerty", "qwertz", "azerty", "asdf", "zxcv", "yxcv", "abc",
		// the calendar
		"january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december", "januar", "februar", "märz", "juni", "juli", "oktober", "dezember",
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag",
	}
}
