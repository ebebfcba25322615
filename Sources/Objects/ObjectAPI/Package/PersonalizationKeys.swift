import ODataModel

/// The personalization keys of a package, as generated code declares them.
public protocol PersonalizationKeys: Hashable, Sendable {
    /// The package.
    associatedtype Package: ObjectPackage
    /// The values by name.
    var values: PersonalizationValues { get set }
    /// Creates the keys from values.
    init(values: PersonalizationValues)
}

/// The values of personalization keys by name.
public struct PersonalizationValues: Hashable, Sendable {
    private var values: [String: ODataValue] = [:]

    /// Creates values of which none is set.
    public init() {}

    init(_ values: [String: ODataValue]) { self.values = values }

    /// The values that are set.
    var all: [String: ODataValue] { values }

    /// The value of a key; `nil` for null, for a key that is not set, and for a value of another type.
    public subscript<Value: ODataValueConvertible>(_ name: String) -> Value? {
        get { values[name].flatMap { Value(odataValue: $0) } }
        set { values[name] = newValue?.odataValue ?? .null }
    }
}

/// The personalization keys of a package that has none.
public struct NoPersonalization<Package: ObjectPackage>: PersonalizationKeys {
    /// The values, none of which has a meaning.
    public var values: PersonalizationValues

    /// Creates the keys.
    public init(values: PersonalizationValues) { self.values = values }
}
