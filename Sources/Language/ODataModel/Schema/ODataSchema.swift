/// One schema of a metadata document (OData CSDL 4.01, 5 *Schema*).
public struct ODataSchema: Hashable, Sendable {
    /// The namespace.
    public var namespace: String
    /// The short name used within the document.
    public var alias: String?
    /// The entity and complex types in document order.
    public var structuredTypes: [StructuredType]
    /// The enumeration types.
    public var enumTypes: [EnumType]
    /// The type definitions.
    public var typeDefinitions: [TypeDefinition]
    /// The actions and functions, including overloads.
    public var operations: [ODataOperation]
    /// V2 and V3: the associations that define the navigation properties.
    public var associations: [Association]
    /// The entity container, if this schema declares it.
    public var container: EntityContainer?
    /// The annotations on the schema.
    public var annotations: [Annotation]
    /// The vocabulary terms that the schema defines.
    public var terms: [Term]
    /// The annotations on elements that the document does not declare.
    public var externalAnnotations: [TargetedAnnotations]

    /// Creates a schema.
    public init(
        namespace: String, alias: String? = nil, structuredTypes: [StructuredType] = [], enumTypes: [EnumType] = [],
        typeDefinitions: [TypeDefinition] = [], operations: [ODataOperation] = [], associations: [Association] = [],
        container: EntityContainer? = nil,
        annotations: [Annotation] = [], terms: [Term] = [], externalAnnotations: [TargetedAnnotations] = []
    ) {
        self.namespace = namespace
        self.alias = alias
        self.structuredTypes = structuredTypes
        self.enumTypes = enumTypes
        self.typeDefinitions = typeDefinitions
        self.operations = operations
        self.associations = associations
        self.container = container
        self.annotations = annotations
        self.terms = terms
        self.externalAnnotations = externalAnnotations
    }
}
