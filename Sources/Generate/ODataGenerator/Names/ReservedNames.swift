/// Names that generated code must not take.
enum ReservedNames {
    /// What every generated structure has, by itself or from the libraries.
    static let members: Set<String> = [
        "Paths", "as", "bind", "cast", "changedProperties", "dynamicProperties", "encode", "hash", "hashValue",
        "isLoaded", "odataETag", "odataEntity", "odataKey", "odataMetadata", "odataModel", "odataPath", "odataShape",
        "odataValue", "path", "paths", "require", "typeName", "write",
    ]

    /// What every generated enumeration has. A member `none` or `some` would be taken for that of `Optional`, since
    /// every property is optional.
    static let enumerationMembers: Set<String> = [
        "RawValue", "allCases", "debugDescription", "description", "encode", "hash", "hashValue", "memberNames",
        "none", "odataModel", "odataValue", "rawValue", "some", "typeName",
    ]

    /// What every option set has besides.
    static let flags: Set<String> = [
        "ArrayLiteralElement", "Element", "contains", "formIntersection", "formSymmetricDifference", "formUnion",
        "insert", "intersection", "isDisjoint", "isEmpty", "isStrictSubset", "isStrictSuperset", "isSubset",
        "isSuperset", "remove", "subtract", "subtracting", "symmetricDifference", "union", "update",
    ]

    /// What every generated service has.
    static let service: Set<String> = ["odataService"]

    /// What requests have, which bound operations are added to.
    static let requests: Set<String> = [
        "all", "cast", "changes", "clear", "count", "create", "delete", "expand", "filter", "first", "get", "key",
        "link", "media", "members", "navigate", "odataService", "orderBy", "pages", "query", "replace", "rows",
        "search", "select", "set", "setMedia", "setStream", "skip", "stream", "top", "update", "url", "value", "with",
        "withCount",
    ]

    /// What the bodies of generated methods use.
    static let parameters: Set<String> = ["odataCall", "odataService"]

    /// What types are called within the structures and extensions that are generated: the paths of a structure, and the
    /// parameters of the requests that are extended.
    static let nestedTypes: Set<String> = ["Element", "Member", "Paths", "Value"]

    /// Types of Swift and Foundation that generated code uses, or that its user would miss.
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
