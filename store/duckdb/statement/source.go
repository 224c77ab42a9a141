package statement

import (
	"context"
	"math"
)

// Source is a store beside that of the history, whose views a statement may read too. It writes what a statement needs into files of a
// folder when the statement is known.
type Source interface {
	// Folder is where those files are, an absolute path.
	Folder() string
	// Tables lists the views. It does not change.
	Tables() []Dated
	// Views returns the statements that make the views which a statement reads. done is called when it has ended.
	Views(ctx context.Context, need Need) (views []string, done func(), err error)
}

// Dated is a view of a Source. A statement whose conditions bound its days needs only these.
type Dated struct {
	Name string `json:"name"`
	Day  string `json:"day,omitempty"` // the column with the local day; "" if the rows belong to no day
	End  string `json:"end,omitempty"` // the column with a moment of the day or its end, in UTC
}

// Need is what a statement reads of a Source.
type Need struct {
	Tables []string `json:"tables"` // in lower case
	From   int64    `json:"from"`   // the first day that is read, in days since 1970-01-01; AllDays without a bound
	To     int64    `json:"to"`     // the last one; before From if only the columns are asked for
}

// AllDays is the bound of a statement without one: From is its negative.
const AllDays = math.MaxInt32
