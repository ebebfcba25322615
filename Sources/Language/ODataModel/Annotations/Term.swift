/// A vocabulary term: what annotations can be made of (OData CSDL 4.01, 14.1 *Term*).
public struct Term: Hashable, Sendable {
    /// The qualified name.
    public var name: QualifiedName
    /// The type of its values.
    public var type: TypeReference
    /// The term it specialises.
    public var baseTerm: String?
    /// Whether null is a value.
    public var isNullable: Bool
    /// The facets of its values.
    public var facets: Facets
    /// The value of an annotation that states none, in lexical form.
    public var defaultValue: String?
    /// The kinds of model element it can be applied to; empty for any.
    public var appliesTo: [String]
    /// The annotations on the term.
    public var annotations: [Annotation]

    /// Makes a term.
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
