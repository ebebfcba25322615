import ODataModel

/// A Swift enumeration for an enumeration type of the metadata.
///
/// A number that the metadata did not declare when the code was generated reads as `nil`. The entity keeps the
/// number, and an update that does not set the property leaves it unchanged.
public protocol TypedEnumeration: RawRepresentable, Hashable, Sendable, Codable, ODataValueConvertible
where RawValue == Int64 {
    /// The qualified name of the type in the model.
    static var typeName: QualifiedName { get }
    /// The model that the code was generated from.
    static var odataModel: EntityDataModel { get }
}

/// A Swift option set for an enumeration type whose values combine members (OData CSDL 4.01, 10.2 *IsFlags*).
public protocol TypedFlags: TypedEnumeration, OptionSet {}

extension TypedEnumeration {
    /// Creates a value from an enumeration value; `nil` for other values and undeclared numbers.
    public init?(odataValue: ODataValue) {
        guard case .enumeration(let number) = odataValue else { return nil }
        self.init(rawValue: number)
    }

    /// The value for requests and queries.
    public var odataValue: ODataValue { .enumeration(rawValue) }

    /// The names of the members, separated by commas; the number if it has no name.
    public var memberNames: String {
        Self.odataModel.enumType(Self.typeName)?.text(of: rawValue) ?? String(rawValue)
    }
}
