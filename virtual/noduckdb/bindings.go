// Package duckdb_go_bindings stands in for the bindings of DuckDB in a program without C: what the store calls of them is here, and
// opening a database fails with a message that says what to do.
package duckdb_go_bindings

import "unsafe"

type (
	// State is the outcome of a call.
	State int
	// IdxT counts.
	IdxT = uint64
	// Type is that of a column.
	Type uint32
	// ErrorType is that of an error.
	ErrorType uint32
	// StatementType is that of a statement.
	StatementType uint32
	// Timestamp is a point of time.
	Timestamp int64
)

const (
	// StateSuccess is returned by nothing of this package but SetConfig.
	StateSuccess State = 0
	failed       State = 1
)

const absent = "this program has no DuckDB; set store.engine to memory, postgres or none"

// Handles of a database; they hold nothing.
type (
	// Appender is a handle.
	Appender struct{}
	// Config is a handle.
	Config struct{}
	// Connection is a handle.
	Connection struct{}
	// Database is a handle.
	Database struct{}
	// ExtractedStatements is a handle.
	ExtractedStatements struct{}
	// LogicalType is a handle.
	LogicalType struct{}
	// PreparedStatement is a handle.
	PreparedStatement struct{}
	// Result is a handle.
	Result struct{}
	// Vector is a handle.
	Vector struct{}
	// DataChunk is a handle.
	DataChunk struct{ Ptr unsafe.Pointer }
)

// Types of errors.
const (
	ErrorTypeInvalid ErrorType = iota
	ErrorTypeConnection
	ErrorTypeErrorIO
	ErrorTypeFatal
	ErrorTypeInternal
	ErrorTypeInterrupt
	ErrorTypeOutOfMemory
	ErrorTypePermission
	ErrorTypeSerialization
	ErrorTypeSettings
	ErrorTypeTransaction
)

// Types of statements.
const (
	StatementTypeExplain StatementType = iota
	StatementTypeMulti
	StatementTypeSelect
)

// Types of columns.
const (
	TypeBigInt Type = iota
	TypeBoolean
	TypeDouble
	TypeFloat
	TypeInteger
	TypeSQLNull
	TypeSmallInt
	TypeTimestamp
	TypeTimestampTZ
	TypeTinyInt
	TypeUBigInt
	TypeUInteger
	TypeUSmallInt
	TypeUTinyInt
	TypeVarchar
)

// AppendDataChunk does nothing.
func AppendDataChunk(Appender, DataChunk) State { return failed }

// AppenderCreate does nothing.
func AppenderCreate(Connection, string, string, *Appender) State { return failed }

// AppenderDestroy does nothing.
func AppenderDestroy(*Appender) State { return failed }

// AppenderError does nothing.
func AppenderError(Appender) string { return absent }

// AppenderFlush does nothing.
func AppenderFlush(Appender) State { return failed }

// BindBoolean does nothing.
func BindBoolean(PreparedStatement, IdxT, bool) State { return failed }

// BindDouble does nothing.
func BindDouble(PreparedStatement, IdxT, float64) State { return failed }

// BindInt64 does nothing.
func BindInt64(PreparedStatement, IdxT, int64) State { return failed }

// BindNull does nothing.
func BindNull(PreparedStatement, IdxT) State { return failed }

// BindTimestamp does nothing.
func BindTimestamp(PreparedStatement, IdxT, Timestamp) State { return failed }

// BindUInt32 does nothing.
func BindUInt32(PreparedStatement, IdxT, uint32) State { return failed }

// BindUInt64 does nothing.
func BindUInt64(PreparedStatement, IdxT, uint64) State { return failed }

// BindVarcharLength does nothing.
func BindVarcharLength(PreparedStatement, IdxT, string, IdxT) State { return failed }

// Close does nothing.
func Close(*Database) {}

// Connect does nothing.
func Connect(Database, *Connection) State { return failed }

// CreateConfig does nothing.
func CreateConfig(*Config) State { return failed }

// CreateDataChunk does nothing.
func CreateDataChunk([]LogicalType) DataChunk { return DataChunk{} }

// CreateLogicalType does nothing.
func CreateLogicalType(Type) LogicalType { return LogicalType{} }

// DataChunkGetColumnCount does nothing.
func DataChunkGetColumnCount(DataChunk) IdxT { return 0 }

// DataChunkGetSize does nothing.
func DataChunkGetSize(DataChunk) IdxT { return 0 }

// DataChunkGetVector does nothing.
func DataChunkGetVector(DataChunk, IdxT) Vector { return Vector{} }

// DataChunkReset does nothing.
func DataChunkReset(DataChunk) {}

// DataChunkSetSize does nothing.
func DataChunkSetSize(DataChunk, IdxT) {}

// DestroyConfig does nothing.
func DestroyConfig(*Config) {}

// DestroyDataChunk does nothing.
func DestroyDataChunk(*DataChunk) {}

// DestroyExtracted does nothing.
func DestroyExtracted(*ExtractedStatements) {}

// DestroyLogicalType does nothing.
func DestroyLogicalType(*LogicalType) {}

// DestroyPrepare does nothing.
func DestroyPrepare(*PreparedStatement) {}

// DestroyResult does nothing.
func DestroyResult(*Result) {}

// Disconnect does nothing.
func Disconnect(*Connection) {}

// ExecutePreparedStreaming does nothing.
func ExecutePreparedStreaming(PreparedStatement, *Result) State { return failed }

// ExtractStatements does nothing.
func ExtractStatements(Connection, string, *ExtractedStatements) IdxT { return 0 }

// ExtractStatementsError does nothing.
func ExtractStatementsError(ExtractedStatements) string { return absent }

// FetchChunk does nothing.
func FetchChunk(Result) DataChunk { return DataChunk{} }

// Interrupt does nothing.
func Interrupt(Connection) {}

// NewTimestamp does nothing.
func NewTimestamp(int64) Timestamp { return 0 }

// OpenExt opens nothing.
func OpenExt(_ string, _ *Database, _ Config, message *string) State {
	*message = absent
	return failed
}

// Prepare does nothing.
func Prepare(Connection, string, *PreparedStatement) State { return failed }

// PrepareError does nothing.
func PrepareError(PreparedStatement) string { return absent }

// PrepareExtractedStatement does nothing.
func PrepareExtractedStatement(Connection, ExtractedStatements, IdxT, *PreparedStatement) State {
	return failed
}

// PreparedStatementColumnCount does nothing.
func PreparedStatementColumnCount(PreparedStatement) IdxT { return 0 }

// PreparedStatementColumnName does nothing.
func PreparedStatementColumnName(PreparedStatement, IdxT) string { return absent }

// PreparedStatementColumnType does nothing.
func PreparedStatementColumnType(PreparedStatement, IdxT) Type { return TypeSQLNull }

// PreparedStatementType does nothing.
func PreparedStatementType(PreparedStatement) StatementType { return StatementTypeMulti }

// ResultError does nothing.
func ResultError(*Result) string { return absent }

// ResultErrorType does nothing.
func ResultErrorType(*Result) ErrorType { return ErrorTypeInvalid }

// SetConfig does nothing.
func SetConfig(Config, string, string) State { return StateSuccess }

// VectorAssignStringElement does nothing.
func VectorAssignStringElement(Vector, IdxT, string) {}

// VectorEnsureValidityWritable does nothing.
func VectorEnsureValidityWritable(Vector) {}

// VectorGetData does nothing.
func VectorGetData(Vector) unsafe.Pointer { return nil }

// VectorGetValidity does nothing.
func VectorGetValidity(Vector) unsafe.Pointer { return nil }
