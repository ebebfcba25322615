/// A structured type compiled for work: everything inherited included, each property at a fixed ordinal.
///
/// Dynamic entities, generated types and storage mappings all address properties by ordinal, so that
/// no name is looked up in a loop over rows. Base-type properties come first: a value's ordinals are
/// the same whether it is seen as its own type or as a base type.
public final class TypeShape: Sendable, Hashable, CustomStringConvertible {
    /// The qualified name of the type.
    public let name: QualifiedName
    /// Entity or complex.
    public let kind: StructuredType.Kind
    /// The type this one derives from.
    public let baseType: QualifiedName?
    /// Whether it has no instances of its own.
    public let isAbstract: Bool
    /// Whether instances may carry undeclared properties.
    public let isOpen: Bool
    /// Whether the entity is a media entity.
    public let hasStream: Bool
    /// The structural properties; the index is the ordinal.
    public let properties: [Property]
    /// The navigation properties; the index is the ordinal.
    public let navigationProperties: [NavigationProperty]
    /// The key; empty for complex types and keyless entity types.
    public let key: [StructuredType.KeyProperty]
    /// The ordinals of key properties that are direct properties, in key order.
    public let keyOrdinals: [Int]
    /// The annotations on the type itself.
    public let annotations: [Annotation]

    /// The property names in UTF-8, so that a JSON reader compares bytes and makes no strings, and that names are looked up
    /// faster than a dictionary hashes them.
    let propertyNames: PropertyNameTable
    /// The primitive type of each property that has one, seen through type definitions: what a reader of
    /// rows needs of a property, without copying all of it.
    public let primitiveTypes: [PrimitiveType?]
    /// The property names as a writer of JSON puts them.
    package let propertyKeys: [JSONWriter.Key]
    private let navigationOrdinals: [String: Int]

    /// Compiles one type on top of its base type's shape.
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

    /// What a type has: what it inherits, then what it adds. One that it declares again, to constrain it
    /// (OData CSDL 4.01, 7 and 8), stands where the inherited one stood.
    private static func joined<Member>(
        _ inherited: [Member]?, _ own: [Member], ordinal: (Member) -> Int?
    ) -> [Member] {
        guard var all = inherited, !all.isEmpty else { return own }
        for member in own {
            if let ordinal = ordinal(member) { all[ordinal] = member } else { all.append(member) }
        }
        return all
    }

    /// A shape that no model declares: the rows of an `$apply` result or a `$select` projection.
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

    /// The ordinal of a structural property.
    public func ordinal(of property: String) -> Int? { propertyNames.ordinal(of: property) }

    /// The ordinal of a navigation property.
    public func navigationOrdinal(of property: String) -> Int? { navigationOrdinals[property] }

    /// The structural property with a name.
    public func property(_ name: String) -> Property? { ordinal(of: name).map { properties[$0] } }

    /// The navigation property with a name.
    public func navigationProperty(_ name: String) -> NavigationProperty? {
        navigationOrdinals[name].map { navigationProperties[$0] }
    }

    /// The properties whose values are streams.
    package var streamProperties: [Property] { properties.filter { $0.type.primitive == .stream } }

    /// Two shapes are equal when they are the same object: a model compiles each type once.
    public static func == (left: TypeShape, right: TypeShape) -> Bool { left === right }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The type's name.
    public var description: String { name.description }
}
