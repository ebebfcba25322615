/// A vocabulary term that annotations can apply (OData CSDL 4.01, 14.1 *Term*).
public struct Term: Hashable, Sendable {
    /// The qualified name of the term.
    public var name: QualifiedName
    /// The type of its values.
    public var type: TypeReference
    /// The term that this term specialises.
    public var baseTerm: String?
    /// Whether null is an allowed value.
    public var isNullable: Bool
    /// The facets of its values.
    public var facets: Facets
    /// The lexical form of the value of an annotation that states none.
    public var defaultValue: String?
    /// The kinds of model element that the term can be applied to; empty for any.
    public var appliesTo: [String]
    /// The annotations on the term.
    public var annotations: [Annotation]

    /// Creates a term.
    public init(
        name: QualifiedName, type: TypeReference, baseTerm: String? = nil, isNullable: Bool = true,
        facets: Facets = Facets(), defaultValue: String? = nil, appliesTo: [String] = [],
        annotations: [Annotation] = []
    ) {
        self.name = name
        self.type = type
        self.baseTerm = baseTerm
        self.isNullable = isNullable
        self.facets = facets
        self.defaultValue = defaultValue
        self.appliesTo = appliesTo
        self.annotations = annotations
    }
}
