module github.com/duckdb/duckdb-go-bindings

go 1.26
