/// What a reader of metadata does where the standard leaves a choice.
///
/// ```swift
/// var options = CSDLReaderOptions()
/// options.facets = .strict
/// let result = try CSDLReader.parse(bytes, options: options)
/// ```
public struct CSDLReaderOptions: Hashable, Sendable {
    /// Which references to other documents are followed, where a loader is given.
    public enum References: Hashable, Sendable {
        /// None.
        case ignored
        /// All but those to the vocabularies of OASIS and SAP, which declare terms that every tool knows.
        case custom
        /// All.
        case all
    }

    /// Which annotations are kept.
    public enum Annotations: Hashable, Sendable {
        /// None, and no attributes of other vocabularies either.
        case ignored
        /// Attributes of other vocabularies such as `sap:label`, but no annotations of V3 and V4.
        case attributes
        /// Annotations of V3 and V4, but no attributes of other vocabularies.
        case elements
        /// All.
        case all
    }

    /// What is done with two properties of a type, or two types or sets, whose names differ in case alone.
    public enum CaseConflicts: Hashable, Sendable {
        /// They are allowed, as OData has it.
        case allowed
        /// A warning tells of them.
        case warned
        /// The document is refused.
        case refused
    }

    /// What is done with facets that cannot be: a scale above the precision, a length that is no number.
    public enum Facets: Hashable, Sendable {
        /// They are read as if they were not there, and nothing is said.
        case ignored
        /// They are read as if they were not there, and a warning tells of them.
        case warned
        /// The document is refused.
        case strict
    }

    /// Which references are followed.
    public var references: References
    /// Which annotations are kept.
    public var annotations: Annotations
    /// What is done with names that differ in case alone.
    public var caseConflicts: CaseConflicts
    /// What is done with facets that cannot be.
    public var facets: Facets
    /// Whether the model keeps the document it was read from (``EntityDataModel/originalText``).
    public var keepsOriginalText: Bool

    /// Makes options; what is left out is the lenient choice.
    public init(
        references: References = .custom, annotations: Annotations = .all, caseConflicts: CaseConflicts = .allowed,
        facets: Facets = .warned, keepsOriginalText: Bool = false
    ) {
        self.references = references
        self.annotations = annotations
        self.caseConflicts = caseConflicts
        self.facets = facets
        self.keepsOriginalText = keepsOriginalText
    }
}
