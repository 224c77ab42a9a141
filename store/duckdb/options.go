package duckdb

import (
	"errors"
	"log/slog"
	"strconv"
	"time"

	"voltbus/fault"
	"voltbus/store"
)

// Options say where a Store lives and what it may use. Only Dir is required.
type Options struct {
	Dir         string          // the store's own directory; made if it is absent
	Retention   store.Retention // what Maintain drops; the zero value keeps everything
	Grace       time.Duration   // how long after its end a day is closed, and how long late samples rest before they are merged; 10 minutes if 0
	MemoryLimit int64           // bytes that DuckDB may use, and once more for each export, before it spills to Dir/tmp; 512 MB if 0
	Threads     int             // that DuckDB may use for one query or the close of a day; 2 if 0
	// Statement returns the command for the process of a statement in SQL, which calls ServeStatement: it reads
	// files of some folders, and may write into one. Without it statements are not answered.
	Statement func(read []string, write string) []string
	Log       *slog.Logger // for what Maintain and healing do; silent if nil
}

var (
	errNoDir   = errors.New("the store needs a directory: set the data directory")
	errNumbers = errors.New("memory limit, threads and grace must not be negative")
)

// complete returns the options with their defaults, or fault.Invalid.
func (o Options) complete() (Options, error) {
	switch {
	case o.Dir == "":
		return o, fault.E("duckdb.Open", fault.Invalid, "", errNoDir)
	case o.Grace < 0 || o.MemoryLimit < 0 || o.Threads < 0:
		return o, fault.E("duckdb.Open", fault.Invalid, o.Dir, errNumbers)
	}
	if o.Grace == 0 {
		o.Grace = 10 * time.Minute
	}
	if o.MemoryLimit == 0 {
		o.MemoryLimit = 512 << 20
	}
	if o.Threads == 0 {
		o.Threads = 2
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// settings are DuckDB's for opening the database.
func (o *Options) settings() map[string]string {
	return map[string]string{
		"threads":                      strconv.Itoa(o.Threads),
		"memory_limit":                 strconv.FormatInt(o.MemoryLimit, 10) + "B",
		"temp_directory":               o.Dir + "/tmp",
		"checkpoint_threshold":         "4MB",   // what is newer lies in memory as it came, not packed
		"enable_external_file_cache":   "false", // a second copy of what the system caches; reading is no slower without
		"autoinstall_known_extensions": "false",
		"autoload_known_extensions":    "false",
	}
}
