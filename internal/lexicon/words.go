package lexicon

import "hash/maphash"

// words numbers texts from 0 on. They stand one behind another in one piece of memory.
type words struct {
	seed  maphash.Seed
	text  []byte
	ends  []int // by number: where the word ends
	index table
	last  uint32 // that was added, or was there
}

func (w *words) at(number uint32) []byte {
	begin := 0
	if number > 0 {
		begin = w.ends[number-1]
	}
	return w.text[begin:w.ends[number]]
}

func (w *words) find(word string) (number uint32, known bool) {
	return w.index.find(maphash.String(w.seed, word), func(n uint32) bool { return string(w.at(n)) == word })
}

// add returns the number of the word, which is a new one if it was not there. The last word comes again
// and again where texts come in order.
func (w *words) add(word string) uint32 {
	if w.last < uint32(len(w.ends)) && string(w.at(w.last)) == word {
		return w.last
	}
	n, known := w.find(word)
	if !known {
		n = w.put(word)
	}
	w.last = n
	return n
}

// put numbers a word that is not there.
func (w *words) put(word string) uint32 {
	n := uint32(len(w.ends))
	w.text = append(w.text, word...)
	w.ends = append(w.ends, len(w.text))
	w.index.put(n, func(n uint32) uint64 { return maphash.Bytes(w.seed, w.at(n)) })
	return n
}
