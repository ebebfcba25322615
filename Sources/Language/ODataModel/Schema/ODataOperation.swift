/// An action or a function; several with one name are overloads
/// (OData CSDL 4.01, 12 *Action and Function*).
public struct ODataOperation: Hashable, Sendable {
    /// Whether calling it may change anything.
    public enum Kind: Hashable, Sendable {
        /// May change something; called with POST.
        case action
        /// Changes nothing; called with GET.
        case function
    }

    /// One parameter.
    public struct Parameter: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The type.
        public var type: TypeReference
        /// Whether null is allowed.
        public var isNullable: Bool
        /// The facets.
        public var facets: Facets
        /// The annotations on the parameter.
        public var annotations: [Annotation]

        /// Makes a parameter.
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

    /// The qualified name.
    public var name: QualifiedName
    /// Action or function.
    public var kind: Kind
    /// Whether the first parameter is the binding parameter.
    public var isBound: Bool
    /// Whether further path segments and query options may follow a function call.
    public var isComposable: Bool
    /// The path from the binding parameter to the entity set of the result.
    public var entitySetPath: String?
    /// The parameters, the binding parameter first.
    public var parameters: [Parameter]
    /// The type returned; `nil` when nothing is returned.
    public var returnType: TypeReference?
    /// Whether the result may be null.
    public var isReturnNullable: Bool
    /// The annotations on the operation.
    public var annotations: [Annotation]
    /// The facets of the type returned.
    public var returnFacets: Facets
    /// The annotations on the result.
    public var returnAnnotations: [Annotation]

    /// Makes an operation.
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
    /// Which way a parameter of a function import of V1 to V3 goes.
    public enum Mode: String, Hashable, Sendable {
        /// To the service.
        case input = "In"
        /// From the service.
        case output = "Out"
        /// To the service and back.
        case both = "InOut"
    }

    /// Which way the parameter goes: `Mode` of CSDL 1 to 3; to the service where nothing is said.
    public var mode: Mode { rawAttribute("{}Mode").flatMap(Mode.init) ?? .input }

    /// Whether a call may leave it out (`Core.OptionalParameter`).
    public var mayBeLeftOut: Bool { annotation(Vocabulary.optionalParameter) != nil }
}
