package duckdb

import (
	"errors"
	"log/slog"
	"strconv"
	"time"

	"voltbus/fault"
	"voltbus/store"
	"voltbus/store/duckdb/statement"
)

// Options tell where a Store is and what it may use. Only Dir is required.
type Options struct {
	Dir         string          // the store's own directory; created if absent
	Retention   store.Retention // what Maintain drops; the zero value keeps everything
	Grace       time.Duration   // how long after its end a day is closed, and how long after the last late sample these are merged; 10 minutes if 0
	MemoryLimit int64           // bytes that DuckDB may use, and again for each export, before it spills to Dir/tmp; 512 MB if 0
	Threads     int             // that DuckDB may use for one query or for closing a day; 2 if 0
	// Statement returns the command for the process of an SQL statement, which calls ServeStatement: it reads
	// files in some folders, and may write to one. Without it SQL is not supported.
	Statement func(read []string, write string) []string
	// Beside returns a store whose views statements may read, too; nil for none. It is called for each statement.
	Beside func() statement.Source
	Log    *slog.Logger // for Maintain and healing; silent if nil
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
		"checkpoint_threshold":         "4MB",   // newer data is in memory, uncompressed
		"enable_external_file_cache":   "false", // would duplicate the system's cache; reading is no slower without it
		"autoinstall_known_extensions": "false",
		"autoload_known_extensions":    "false",
	}
}
