package identity

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

var (
	errForm  = errors.New("holds characters that are another form of common ones, such as ａ for a; write the common ones")
	errLooks = errors.New("consists of letters that all look like Latin ones; write it with Latin letters, or so that it cannot be taken for another name")
)

// scripts are those that one language mixes; letters of other scripts next to them are deception or a mistake.
//
//nolint:gochecknoglobals // a table
var scripts = map[string][]*unicode.RangeTable{
	"Latin": {unicode.Latin}, "Cyrillic": {unicode.Cyrillic}, "Greek": {unicode.Greek}, "Arabic": {unicode.Arabic}, "Hebrew": {unicode.Hebrew},
	"Armenian": {unicode.Armenian}, "Georgian": {unicode.Georgian}, "Devanagari": {unicode.Devanagari}, "Bengali": {unicode.Bengali}, "Thai": {unicode.Thai},
	"Tamil": {unicode.Tamil}, "Telugu": {unicode.Telugu}, "Ethiopic": {unicode.Ethiopic}, "Khmer": {unicode.Khmer},
	"Chinese": {unicode.Han, unicode.Bopomofo}, "Japanese": {unicode.Han, unicode.Hiragana, unicode.Katakana}, "Korean": {unicode.Han, unicode.Hangul},
}

// latinLooks are small letters of other scripts that look like Latin ones.
const latinLooks = "асеорхуѕіјһԁԛԝѵӏ" + "ανορϲϳι" + "ոսօհ"

// common are marks and length signs that belong to any script.
func common(r rune) bool { return r == 'ー' || !unicode.IsLetter(r) }

// checkLooks refuses a new name that people could confuse with an existing one.
func checkLooks(name string) error {
	if norm.NFKC.String(name) != name {
		return errForm
	}
	for _, r := range name {
		if unicode.IsDigit(r) && r > unicode.MaxASCII {
			return errForm
		}
		if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return errForm
		}
	}
	if !oneScript(name) {
		return fmt.Errorf("mixes letters of several scripts, %s; write all letters in one", mixed(name))
	}
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, name)
	if letters != "" && strings.Trim(letters, latinLooks) == "" {
		return errLooks
	}
	return nil
}

func oneScript(name string) bool {
	for _, tables := range scripts {
		if strings.IndexFunc(name, func(r rune) bool { return !common(r) && !unicode.In(r, tables...) }) < 0 {
			return true
		}
	}
	return false
}

// mixed describes a letter in another script than the first, in a way that lets a person find it.
func mixed(name string) string {
	var first rune
	for _, r := range name {
		switch {
		case common(r):
		case first == 0:
			first = r
		default:
			if !oneScript(string([]rune{first, r})) {
				return fmt.Sprintf("such as %q (%U) beside %q (%U)", r, r, first, first)
			}
		}
	}
	return "or of one that is not known here"
}
