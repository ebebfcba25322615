import ODataModel

/// A Swift enumeration for an enumeration type.
///
/// A number that the metadata did not declare when the code was generated reads as `nil`; the number itself stays
/// in the entity, and an update that does not set the property leaves it alone.
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
    /// Reads an enumeration value.
    public init?(odataValue: ODataValue) {
        guard case .enumeration(let number) = odataValue else { return nil }
        self.init(rawValue: number)
    }

    /// The enumeration value.
    public var odataValue: ODataValue { .enumeration(rawValue) }

    /// The members' names as the service writes them, separated by commas; the number where there is none.
    public var memberNames: String {
        Self.odataModel.enumType(Self.typeName)?.text(of: rawValue) ?? String(rawValue)
    }
}
