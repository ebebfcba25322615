/// The type of a property, parameter or value, resolved against the model (OData CSDL 4.01, 4.1 *Type*).
///
/// Names are boxed, so that a reference occupies one word and primitive types are copied without memory access.
public enum TypeReference: Hashable, Sendable, CustomStringConvertible {
    /// A primitive type.
    case primitive(PrimitiveType)
    /// An enumeration type of the model.
    indirect case enumeration(QualifiedName)
    /// A type definition of the model with its primitive type.
    indirect case typeDefinition(QualifiedName, PrimitiveType)
    /// A complex type of the model; `nil` is the abstract `Edm.ComplexType`.
    indirect case complex(QualifiedName?)
    /// An entity type of the model; `nil` is the abstract `Edm.EntityType`.
    indirect case entity(QualifiedName?)
    /// A collection of any other type.
    indirect case collection(TypeReference)
    /// `Edm.Untyped`, `Edm.PrimitiveType` or a name that the model does not declare.
    indirect case untyped(String)

    /// Whether this is a collection.
    public var isCollection: Bool {
        if case .collection = self { true } else { false }
    }

    /// The member type of a collection, else the type itself.
    public var element: TypeReference {
        if case .collection(let element) = self { element } else { self }
    }

    /// Whether the type of the value, or of the members of a collection, is unknown, as with `Edm.Untyped`.
    var isUntyped: Bool {
        if case .untyped = element { true } else { false }
    }

    /// The primitive type, or the underlying type of a type definition; `nil` for other kinds.
    public var primitive: PrimitiveType? {
        switch self {
        case .primitive(let type), .typeDefinition(_, let type): type
        default: nil
        }
    }

    /// The name in metadata and in `@odata.type`, such as `Collection(Edm.String)`.
    public var description: String {
        switch self {
        case .primitive(let type): type.rawValue
        case .enumeration(let name), .typeDefinition(let name, _): name.description
        case .complex(let name): name?.description ?? "Edm.ComplexType"
        case .entity(let name): name?.description ?? "Edm.EntityType"
        case .collection(let element): "Collection(\(element))"
        case .untyped(let name): name
        }
    }
}
