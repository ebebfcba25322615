/// A structured type prepared for fast access: all inherited members are included, and each property has a fixed
/// ordinal.
///
/// Dynamic entities, generated types and storage mappings address properties by ordinal, which avoids lookups by
/// name in loops over rows. Properties of base types come first, so that ordinals are the same in the type and its
/// base types.
///
/// ```swift
/// guard let shape = model.shape(ofSet: "Orders") else { return }
/// for property in shape.properties { print(property.name, property.type) }
/// let order = ODataEntity(shape: shape)
/// ```
public final class TypeShape: Sendable, Hashable, CustomStringConvertible {
    /// The qualified name of the type.
    public let name: QualifiedName
    /// The kind of type, entity or complex.
    public let kind: StructuredType.Kind
    /// The base type.
    public let baseType: QualifiedName?
    /// Whether the type is abstract and has no direct instances.
    public let isAbstract: Bool
    /// Whether instances may contain undeclared properties.
    public let isOpen: Bool
    /// Whether the entity is a media entity.
    public let hasStream: Bool
    /// The structural properties; the index is the ordinal.
    public let properties: [Property]
    /// The navigation properties; the index is the ordinal.
    public let navigationProperties: [NavigationProperty]
    /// The key; empty for complex types and keyless entity types.
    public let key: [StructuredType.KeyProperty]
    /// The ordinals of the key properties that belong directly to the type, in key order.
    public let keyOrdinals: [Int]
    /// The annotations on the type itself.
    public let annotations: [Annotation]

    /// The property names in UTF-8, which a JSON reader compares without creating strings. The lookup is faster
    /// than that of a dictionary.
    let propertyNames: PropertyNameTable
    /// The primitive type of each property, or of its type definition; `nil` for other types. Readers of rows use
    /// these types to avoid copying properties.
    public let primitiveTypes: [PrimitiveType?]
    /// The property names prepared for writing JSON.
    package let propertyKeys: [JSONWriter.Key]
    private let navigationOrdinals: [String: Int]

    /// Creates the shape of a type from the shape of its base type.
    init(_ type: StructuredType, base: TypeShape?) {
        name = type.name
        kind = type.kind
        baseType = type.baseType
        isAbstract = type.isAbstract
        isOpen = type.isOpen || base?.isOpen == true
        hasStream = type.hasStream || base?.hasStream == true
        properties = Self.joined(base?.properties, type.properties) { base?.ordinal(of: $0.name) }
        navigationProperties = Self.joined(base?.navigationProperties, type.navigationProperties) {
            base?.navigationOrdinal(of: $0.name)
        }
        key = type.key.isEmpty ? base?.key ?? [] : type.key
        annotations = type.annotations
        navigationOrdinals = Dictionary(
            navigationProperties.enumerated().map { ($0.element.name, $0.offset) },
            uniquingKeysWith: { first, _ in first })
        primitiveTypes = properties.map(\.type.primitive)
        let names = PropertyNameTable(properties.lazy.map(\.name))
        propertyNames = names
        propertyKeys = properties.map { JSONWriter.Key($0.name) }
        keyOrdinals = key.compactMap { names.ordinal(of: $0.path) }
    }

    /// Returns inherited members, followed by own members. A redeclared member, which constrains the inherited one
    /// (OData CSDL 4.01, 7 and 8), takes the inherited position.
    private static func joined<Member>(
        _ inherited: [Member]?, _ own: [Member], ordinal: (Member) -> Int?
    ) -> [Member] {
        guard var all = inherited, !all.isEmpty else { return own }
        for member in own {
            if let ordinal = ordinal(member) { all[ordinal] = member } else { all.append(member) }
        }
        return all
    }

    /// Creates a shape for rows of an undeclared type, such as an `$apply` result or a `$select` projection.
    ///
    /// - Parameters:
    ///   - name: a name for messages.
    ///   - properties: the properties in order.
    public convenience init(
        dynamic name: QualifiedName, properties: [Property], navigationProperties: [NavigationProperty] = []
    ) {
        self.init(
            StructuredType(
                name: name, kind: .complex, properties: properties, navigationProperties: navigationProperties),
            base: nil)
    }

    /// Returns the ordinal of a structural property.
    public func ordinal(of property: String) -> Int? { propertyNames.ordinal(of: property) }

    /// Returns the ordinal of a navigation property.
    public func navigationOrdinal(of property: String) -> Int? { navigationOrdinals[property] }

    /// Returns the structural property with a name.
    public func property(_ name: String) -> Property? { ordinal(of: name).map { properties[$0] } }

    /// Returns the navigation property with a name.
    public func navigationProperty(_ name: String) -> NavigationProperty? {
        navigationOrdinals[name].map { navigationProperties[$0] }
    }

    /// The properties whose values are streams.
    package var streamProperties: [Property] { properties.filter { $0.type.primitive == .stream } }

    /// Returns whether both shapes are the same object; a model creates each shape once.
    public static func == (left: TypeShape, right: TypeShape) -> Bool { left === right }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The type's name.
    public var description: String { name.description }
}
