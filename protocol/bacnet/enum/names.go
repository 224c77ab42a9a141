package enum

// Object types of the standard.
const (
	AnalogInput           ObjectType = 0
	AnalogOutput          ObjectType = 1
	AnalogValue           ObjectType = 2
	BinaryInput           ObjectType = 3
	BinaryOutput          ObjectType = 4
	BinaryValue           ObjectType = 5
	Calendar              ObjectType = 6
	Command               ObjectType = 7
	Device                ObjectType = 8
	EventEnrollment       ObjectType = 9
	File                  ObjectType = 10
	Group                 ObjectType = 11
	Loop                  ObjectType = 12
	MultiStateInput       ObjectType = 13
	MultiStateOutput      ObjectType = 14
	NotificationClass     ObjectType = 15
	Program               ObjectType = 16
	Schedule              ObjectType = 17
	Averaging             ObjectType = 18
	MultiStateValue       ObjectType = 19
	TrendLog              ObjectType = 20
	LifeSafetyPoint       ObjectType = 21
	LifeSafetyZone        ObjectType = 22
	Accumulator           ObjectType = 23
	PulseConverter        ObjectType = 24
	EventLog              ObjectType = 25
	GlobalGroup           ObjectType = 26
	TrendLogMultiple      ObjectType = 27
	LoadControl           ObjectType = 28
	StructuredView        ObjectType = 29
	AccessDoor            ObjectType = 30
	Timer                 ObjectType = 31
	AccessCredential      ObjectType = 32
	AccessPoint           ObjectType = 33
	AccessRights          ObjectType = 34
	AccessUser            ObjectType = 35
	AccessZone            ObjectType = 36
	CredentialDataInput   ObjectType = 37
	NetworkSecurity       ObjectType = 38
	BitstringValue        ObjectType = 39
	CharacterstringValue  ObjectType = 40
	DatePatternValue      ObjectType = 41
	DateValue             ObjectType = 42
	DatetimePatternValue  ObjectType = 43
	DatetimeValue         ObjectType = 44
	IntegerValue          ObjectType = 45
	LargeAnalogValue      ObjectType = 46
	OctetstringValue      ObjectType = 47
	PositiveIntegerValue  ObjectType = 48
	TimePatternValue      ObjectType = 49
	TimeValue             ObjectType = 50
	NotificationForwarder ObjectType = 51
	AlertEnrollment       ObjectType = 52
	Channel               ObjectType = 53
	LightingOutput        ObjectType = 54
	BinaryLightingOutput  ObjectType = 55
	NetworkPort           ObjectType = 56
	ElevatorGroup         ObjectType = 57
	Escalator             ObjectType = 58
	Lift                  ObjectType = 59
	Staging               ObjectType = 60
	AuditLog              ObjectType = 61
	AuditReporter         ObjectType = 62
)

// Properties that programs name.
const (
	PropertyAckedTransitions               Property = 0
	PropertyAckRequired                    Property = 1
	PropertyActiveText                     Property = 4
	PropertyAll                            Property = 8
	PropertyAlarmValue                     Property = 6
	PropertyAPDUSegmentTimeout             Property = 10
	PropertyAPDUTimeout                    Property = 11
	PropertyApplicationSoftwareVersion     Property = 12
	PropertyBufferSize                     Property = 126
	PropertyCOVIncrement                   Property = 22
	PropertyDateList                       Property = 23
	PropertyDescription                    Property = 28
	PropertyDeviceAddressBinding           Property = 30
	PropertyDeviceType                     Property = 31
	PropertyEffectivePeriod                Property = 32
	PropertyEventEnable                    Property = 35
	PropertyEventState                     Property = 36
	PropertyEventTimeStamps                Property = 130
	PropertyExceptionSchedule              Property = 38
	PropertyFileSize                       Property = 42
	PropertyFileType                       Property = 43
	PropertyFirmwareRevision               Property = 44
	PropertyHighLimit                      Property = 45
	PropertyInactiveText                   Property = 46
	PropertyListOfObjectPropertyReferences Property = 54
	PropertyLocalDate                      Property = 56
	PropertyLocalTime                      Property = 57
	PropertyLocation                       Property = 58
	PropertyLowLimit                       Property = 59
	PropertyMaxAPDULengthAccepted          Property = 62
	PropertyMaxPresValue                   Property = 65
	PropertyMinPresValue                   Property = 69
	PropertyModelName                      Property = 70
	PropertyNotifyType                     Property = 72
	PropertyNumberOfAPDURetries            Property = 73
	PropertyNumberOfStates                 Property = 74
	PropertyObjectIdentifier               Property = 75
	PropertyObjectList                     Property = 76
	PropertyObjectName                     Property = 77
	PropertyObjectType                     Property = 79
	PropertyOptional                       Property = 80
	PropertyOutOfService                   Property = 81
	PropertyPolarity                       Property = 84
	PropertyPresentValue                   Property = 85
	PropertyPriority                       Property = 86
	PropertyPriorityArray                  Property = 87
	PropertyPriorityForWriting             Property = 88
	PropertyProtocolObjectTypesSupported   Property = 96
	PropertyProtocolServicesSupported      Property = 97
	PropertyProtocolVersion                Property = 98
	PropertyProtocolRevision               Property = 139
	PropertyReadOnly                       Property = 99
	PropertyRecordCount                    Property = 141
	PropertyRelinquishDefault              Property = 104
	PropertyRequired                       Property = 105
	PropertyRecipientList                  Property = 102
	PropertyReliability                    Property = 103
	PropertySegmentationSupported          Property = 107
	PropertyScheduleDefault                Property = 174
	PropertyStateText                      Property = 110
	PropertyStatusFlags                    Property = 111
	PropertySystemStatus                   Property = 112
	PropertyTimeDelay                      Property = 113
	PropertyTotalRecordCount               Property = 145
	PropertyUnits                          Property = 117
	PropertyVendorIdentifier               Property = 120
	PropertyVendorName                     Property = 121
	PropertyWeeklySchedule                 Property = 123
	PropertyNotificationClass              Property = 17
	PropertyLogBuffer                      Property = 131
	PropertyLogInterval                    Property = 134
	PropertyEnable                         Property = 133
	PropertyLogDeviceObjectProperty        Property = 132
	PropertyActiveCOVSubscriptions         Property = 152
	PropertyDatabaseRevision               Property = 155
	PropertyMaxSegmentsAccepted            Property = 167
	PropertyPropertyList                   Property = 371
	PropertyCurrentCommandPriority         Property = 431
	PropertyUTCOffset                      Property = 119
	PropertyDaylightSavingsStatus          Property = 24
	PropertyTimeSynchronizationRecipients  Property = 116
	PropertyStopWhenFull                   Property = 144
	PropertyLoggingType                    Property = 197
)

// Units that programs name.
const (
	UnitNoUnits                 Unit = 95
	UnitDegreesCelsius          Unit = 62
	UnitDegreesFahrenheit       Unit = 64
	UnitDegreesKelvin           Unit = 63
	UnitPercent                 Unit = 98
	UnitPercentRelativeHumidity Unit = 29
	UnitKilowatts               Unit = 48
	UnitKilowattHours           Unit = 19
	UnitWatts                   Unit = 47
	UnitPascals                 Unit = 53
	UnitLitersPerSecond         Unit = 87
	UnitAmperes                 Unit = 3
	UnitVolts                   Unit = 5
	UnitHertz                   Unit = 27
	UnitPartsPerMillion         Unit = 96
	UnitWattsPerSquareMeter     Unit = 35
	UnitMetersPerSecond         Unit = 74
	UnitHours                   Unit = 71
	UnitKilojoulesPerKilogram   Unit = 125
)

// Error classes.
const (
	ClassDevice        ErrorClass = 0
	ClassObject        ErrorClass = 1
	ClassProperty      ErrorClass = 2
	ClassResources     ErrorClass = 3
	ClassSecurity      ErrorClass = 4
	ClassServices      ErrorClass = 5
	ClassVt            ErrorClass = 6
	ClassCommunication ErrorClass = 7
)

// Error codes that programs name.
const (
	CodeOther                             ErrorCode = 0
	CodeConfigurationInProgress           ErrorCode = 2
	CodeDeviceBusy                        ErrorCode = 3
	CodeFileAccessDenied                  ErrorCode = 5
	CodeInconsistentParameters            ErrorCode = 7
	CodeInconsistentSelectionCriterion    ErrorCode = 8
	CodeInvalidDataType                   ErrorCode = 9
	CodeInvalidFileAccessMethod           ErrorCode = 10
	CodeInvalidFileStartPosition          ErrorCode = 11
	CodeMissingRequiredParameter          ErrorCode = 16
	CodeNoObjectsOfSpecifiedType          ErrorCode = 17
	CodeNoSpaceToWriteProperty            ErrorCode = 20
	CodePropertyIsNotAList                ErrorCode = 22
	CodeOperationalProblem                ErrorCode = 25
	CodePasswordFailure                   ErrorCode = 26
	CodeReadAccessDenied                  ErrorCode = 27
	CodeServiceRequestDenied              ErrorCode = 29
	CodeTimeout                           ErrorCode = 30
	CodeUnknownObject                     ErrorCode = 31
	CodeUnknownProperty                   ErrorCode = 32
	CodeValueOutOfRange                   ErrorCode = 37
	CodeWriteAccessDenied                 ErrorCode = 40
	CodeCharacterSetNotSupported          ErrorCode = 41
	CodeInvalidArrayIndex                 ErrorCode = 42
	CodeCOVSubscriptionFailed             ErrorCode = 43
	CodeNotCOVProperty                    ErrorCode = 44
	CodeOptionalFunctionalityNotSupported ErrorCode = 45
	CodeInvalidConfigurationData          ErrorCode = 46
	CodeDatatypeNotSupported              ErrorCode = 47
	CodeDuplicateName                     ErrorCode = 48
	CodeDuplicateObjectID                 ErrorCode = 49
	CodePropertyIsNotAnArray              ErrorCode = 50
	CodeValueNotInitialized               ErrorCode = 72
	CodeUnknownSubscription               ErrorCode = 79
	CodeParameterOutOfRange               ErrorCode = 80
	CodeListElementNotFound               ErrorCode = 81
	CodeBusy                              ErrorCode = 82
	CodeCommunicationDisabled             ErrorCode = 83
	CodeAccessDenied                      ErrorCode = 85
	CodeInternalError                     ErrorCode = 131
	CodeNotConfigured                     ErrorCode = 132
	CodeOutOfMemory                       ErrorCode = 133
	CodeValueTooLong                      ErrorCode = 134
	CodeInvalidValueInThisState           ErrorCode = 138
	CodeInvalidDataEncoding               ErrorCode = 142
)

// Reasons of a reject.
const (
	RejectOther                    RejectReason = 0
	RejectBufferOverflow           RejectReason = 1
	RejectInconsistentParameters   RejectReason = 2
	RejectInvalidParameterDatatype RejectReason = 3
	RejectInvalidTag               RejectReason = 4
	RejectMissingRequiredParameter RejectReason = 5
	RejectParameterOutOfRange      RejectReason = 6
	RejectTooManyArguments         RejectReason = 7
	RejectUndefinedEnumeration     RejectReason = 8
	RejectUnrecognizedService      RejectReason = 9
)

// Reasons of an abort.
const (
	AbortOther                         AbortReason = 0
	AbortBufferOverflow                AbortReason = 1
	AbortInvalidAPDUInThisState        AbortReason = 2
	AbortPreemptedByHigherPriorityTask AbortReason = 3
	AbortSegmentationNotSupported      AbortReason = 4
	AbortSecurityError                 AbortReason = 5
	AbortInsufficientSecurity          AbortReason = 6
	AbortWindowSizeOutOfRange          AbortReason = 7
	AbortApplicationExceededReplyTime  AbortReason = 8
	AbortOutOfResources                AbortReason = 9
	AbortTSMTimeout                    AbortReason = 10
	AbortAPDUTooLong                   AbortReason = 11
)

// Event states.
const (
	EventNormal          EventState = 0
	EventFault           EventState = 1
	EventOffnormal       EventState = 2
	EventHighLimit       EventState = 3
	EventLowLimit        EventState = 4
	EventLifeSafetyAlarm EventState = 5
)

// Reliabilities that programs name.
const (
	NoFaultDetected      Reliability = 0
	NoSensor             Reliability = 1
	OverRange            Reliability = 2
	UnreliableOther      Reliability = 7
	ConfigurationError   Reliability = 10
	CommunicationFailure Reliability = 12
	MultiStateOutOfRange Reliability = 25
)
