/// An action or a function. Operations with the same name are overloads (OData CSDL 4.01, 12 *Action and
/// Function*).
public struct ODataOperation: Hashable, Sendable {
    /// The kinds of operation.
    public enum Kind: Hashable, Sendable {
        /// An operation that may change data and is called with POST.
        case action
        /// An operation that changes nothing and is called with GET.
        case function
    }

    /// A parameter of an operation.
    public struct Parameter: Hashable, Sendable {
        /// The name, unique within the operation.
        public var name: String
        /// The resolved type.
        public var type: TypeReference
        /// Whether null is allowed.
        public var isNullable: Bool
        /// The facets that the document states.
        public var facets: Facets
        /// The annotations on the parameter.
        public var annotations: [Annotation]

        /// Creates a parameter.
        public init(
            name: String, type: TypeReference, isNullable: Bool = true, facets: Facets = Facets(),
            annotations: [Annotation] = []
        ) {
            self.name = name
            self.type = type
            self.isNullable = isNullable
            self.facets = facets
            self.annotations = annotations
        }
    }

    /// The qualified name, which overloads share.
    public var name: QualifiedName
    /// The kind of operation.
    public var kind: Kind
    /// Whether the first parameter is the binding parameter.
    public var isBound: Bool
    /// Whether path segments and query options may follow a function call.
    public var isComposable: Bool
    /// The path from the binding parameter to the entity set of the result.
    public var entitySetPath: String?
    /// The parameters, the binding parameter first.
    public var parameters: [Parameter]
    /// The type of the result; `nil` if the operation returns nothing.
    public var returnType: TypeReference?
    /// Whether the result may be null.
    public var isReturnNullable: Bool
    /// The annotations on the operation.
    public var annotations: [Annotation]
    /// The facets of the result's type.
    public var returnFacets: Facets
    /// The annotations on the result.
    public var returnAnnotations: [Annotation]

    /// Creates an operation.
    public init(
        name: QualifiedName, kind: Kind, isBound: Bool = false, isComposable: Bool = false,
        entitySetPath: String? = nil, parameters: [Parameter] = [], returnType: TypeReference? = nil,
        isReturnNullable: Bool = true, annotations: [Annotation] = [], returnFacets: Facets = Facets(),
        returnAnnotations: [Annotation] = []
    ) {
        self.name = name
        self.kind = kind
        self.isBound = isBound
        self.isComposable = isComposable
        self.entitySetPath = entitySetPath
        self.parameters = parameters
        self.returnType = returnType
        self.isReturnNullable = isReturnNullable
        self.annotations = annotations
        self.returnFacets = returnFacets
        self.returnAnnotations = returnAnnotations
    }
}

extension ODataOperation.Parameter {
    /// The direction of a parameter of a function import of V1 to V3.
    public enum Mode: String, Hashable, Sendable {
        /// From the client to the service.
        case input = "In"
        /// From the service to the client.
        case output = "Out"
        /// In both directions.
        case both = "InOut"
    }

    /// The direction of the parameter: `Mode` of CSDL 1 to 3; `input` if unstated.
    public var mode: Mode { rawAttribute("{}Mode").flatMap(Mode.init) ?? .input }

    /// Whether a call may omit the parameter (`Core.OptionalParameter`).
    public var mayBeLeftOut: Bool { annotation(Vocabulary.optionalParameter) != nil }
}
