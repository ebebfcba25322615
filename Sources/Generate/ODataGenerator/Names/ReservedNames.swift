enum ReservedNames {
    /// The members of every generated structure, including those from the libraries.
    static let members: Set<String> = [
        "Paths", "as", "bind", "cast", "changedProperties", "dynamicProperties", "encode", "hash", "hashValue",
        "isLoaded", "odataETag", "odataEntity", "odataKey", "odataMetadata", "odataModel", "odataPath", "odataShape",
        "odataValue", "path", "paths", "require", "typeName", "write",
    ]

    /// The additional members of every business object.
    static let objectMembers: Set<String> = ["objectState", "objectType", "requiredAttributes"]

    /// The members of object sets, to which finders are added.
    static let objectSets: Set<String> = [
        "all", "count", "expand", "filter", "find", "first", "load", "observe", "orderBy", "page", "query", "rows",
        "search", "select", "skip", "top", "with", "withCount",
    ]

    /// The members of package databases, to which object sets are added.
    static let packageDatabase: Set<String> = [
        "beginSynchronize", "cancelAllPending", "cancelPending", "changeLog", "close", "create", "delete", "events",
        "execute", "exists", "groupStatus", "hasPendingChanges", "invoke", "isSynchronizationEnabled", "large",
        "listen", "logRecords", "logger", "metadata", "objects", "observe", "onNotification", "open", "package",
        "personalization", "recover", "refresh", "rekey", "resume", "rows", "save", "service", "setNotifications",
        "setSynchronizationEnabled", "store", "submitAllPending", "submitPending", "subscribe", "subscriptions",
        "suspend", "synchronize", "transaction", "unsubscribe", "update",
    ]

    /// The members of group names, to which the groups of a package are added.
    static let groupNames: Set<String> = ["default", "system", "rawValue", "description", "hash", "hashValue"]

    /// The types of the object library that generated code uses.
    static let objectLibraryTypes: Set<String> = [
        "AttributeOperand", "BusinessObject", "ChangeLogEntry", "ChangeScope", "Creatable", "DatabaseProfile",
        "Deletable", "DynamicObject", "DynamicObjects", "DynamicQuery", "GroupName", "GroupStatus", "ImportSummary",
        "Invocation", "LargeAttribute", "LargeAttributeReader", "LargeAttributeWriter", "LargeText", "LargeTextPath",
        "LargeTextReader", "LargeTextWriter", "LogRecordLevel", "LogRecords", "NoPersonalization", "NotificationSource",
        "ObjectAPI", "ObjectChange", "ObjectError", "ObjectLogRecord", "ObjectOperation", "ObjectPackage",
        "ObjectReference", "ObjectSet", "ObjectState", "ObjectTransaction", "ObjectType", "OfflineStore",
        "OperationParameters", "OrderedQueryValue", "Package", "PackageChangeLog", "PackageDatabase", "PackageEvent",
        "PackageLogger", "PackageMetadata", "PackageObserver", "PackageSubscription", "PackageSubscriptions",
        "PendingChange", "PendingOperation", "PersonalizationKeys", "PersonalizationValues", "PredecessorError",
        "QueryAlias", "QueryArgument", "QueryPath", "ReplayFailure", "ReplaySuccess", "RequiredInitialValues",
        "ResultOperand", "Savable", "SelectableColumn", "StateCondition", "StoreLogRecord", "SubscriptionArgument",
        "SubscriptionParameters", "SummableQueryValue", "SurrogateKey", "SyncAction", "SyncReport",
        "SynchronizationPermits", "SynchronizationProfile", "SynchronizationStatus", "SynchronizationTicket",
        "TypedQueryOperand", "UnqueryableAttribute", "Updatable",
    ]

    /// The members of every generated enumeration. `none` and `some` would be confused with those of
    /// `Optional`, because every property is optional.
    static let enumerationMembers: Set<String> = [
        "RawValue", "allCases", "debugDescription", "description", "encode", "hash", "hashValue", "memberNames",
        "none", "odataModel", "odataValue", "rawValue", "some", "typeName",
    ]

    /// The additional members of every option set.
    static let flags: Set<String> = [
        "ArrayLiteralElement", "Element", "contains", "formIntersection", "formSymmetricDifference", "formUnion",
        "insert", "intersection", "isDisjoint", "isEmpty", "isStrictSubset", "isStrictSuperset", "isSubset",
        "isSuperset", "remove", "subtract", "subtracting", "symmetricDifference", "union", "update",
    ]

    static let service: Set<String> = ["odataService"]

    /// The members of requests, to which bound operations are added.
    static let requests: Set<String> = [
        "all", "cast", "changes", "clear", "count", "create", "delete", "expand", "filter", "first", "get", "key",
        "link", "media", "members", "navigate", "odataService", "orderBy", "pages", "query", "replace", "rows",
        "search", "select", "set", "setMedia", "setStream", "skip", "stream", "top", "update", "url", "value", "with",
        "withCount",
    ]

    /// The local names in generated methods.
    static let parameters: Set<String> = ["odataCall", "odataService"]

    /// The names of nested types: the paths of a structure, and the generic parameters of extended requests.
    static let nestedTypes: Set<String> = ["Element", "InitialValues", "Member", "Paths", "Value"]

    /// The types of Swift and Foundation that generated code uses, or that its users may need.
    static let swiftTypes: Set<String> = [
        "Any", "AnyObject", "Array", "AsyncSequence", "AsyncStream", "Bool", "Bundle", "CGFloat", "Calendar",
        "CaseIterable", "Character", "Codable", "CodingKey", "Collection", "Comparable", "Data", "Date",
        "DateComponents", "DateFormatter", "DateInterval", "Decimal", "Decodable", "Decoder", "Dictionary", "Double",
        "Duration", "Encodable", "Encoder", "Equatable", "Error", "FileHandle", "FileManager", "Float",
        "Foundation", "Hashable", "Hasher", "Identifiable", "Int", "Int16", "Int32", "Int64", "Int8",
        "IteratorProtocol", "JSONDecoder", "JSONEncoder", "KeyPath", "Locale", "MainActor", "Measurement", "Mirror",
        "Never", "Notification", "NumberFormatter", "Observable", "Observation", "OptionSet", "Optional",
        "PartialKeyPath", "Process", "ProcessInfo", "Progress", "Range", "RawRepresentable", "RegularExpression",
        "Result", "Scanner", "Sendable", "Sequence", "Set", "String", "Substring", "Swift", "SwiftUI", "Task",
        "TaskGroup", "Thread", "TimeInterval", "TimeZone", "Timer", "UInt", "UInt16", "UInt32", "UInt64", "UInt8",
        "URL", "URLRequest", "URLSession", "UUID", "Unit", "UnsafePointer", "View", "Void",
    ]
}
