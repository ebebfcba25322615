/// What a reader of metadata does where the standard leaves a choice.
///
/// ```swift
/// var options = CSDLReaderOptions()
/// options.facets = .strict
/// let result = try CSDLReader.parse(bytes, options: options)
/// ```
public struct CSDLReaderOptions: Hashable, Sendable {
    /// Which references to other documents are followed, where a loader is given.
    public struct References: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: Int

        /// Makes a set of bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Those to the vocabularies of OASIS and SAP, which declare terms that every tool knows.
        public static let standard = References(rawValue: 1)
        /// Those to documents of the service itself: relative addresses, and absolute ones with scheme, host and port
        /// of ``CSDLReaderOptions/documentURL``.
        public static let sameOrigin = References(rawValue: 2)
        /// Those to documents elsewhere.
        public static let otherOrigin = References(rawValue: 4)
        /// None.
        public static let ignored: References = []
        /// All but the standard ones.
        public static let custom: References = [.sameOrigin, .otherOrigin]
        /// All.
        public static let all: References = [.standard, .sameOrigin, .otherOrigin]
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

    /// What is done with annotations whose term is not declared: neither by the documents read, nor by the vocabularies
    /// of OASIS and SAP, nor by a document that is referred to and not read.
    public enum Terms: Hashable, Sendable {
        /// They are kept like all others.
        case kept
        /// They are kept, and a warning tells of them.
        case warned
        /// They are left out.
        case ignored
        /// The vocabularies of OASIS and SAP whose terms are used are read too, whether or not the document refers to
        /// them (``CSDLReader/parse(_:options:loader:)``); a warning tells of the terms that are then not declared.
        case resolved
    }

    /// What is done with names that are no simple identifiers (OData CSDL 4.01, 15.2).
    public enum Names: Hashable, Sendable {
        /// They are taken as they are.
        case allowed
        /// They are taken as they are, and a warning tells of them.
        case warned
        /// The document is refused.
        case refused
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
    /// Where the document comes from, which tells the references within one service from others; `nil` where it is not
    /// known: relative references alone are the service's own then.
    public var documentURL: String?
    /// Which annotations are kept.
    public var annotations: Annotations
    /// What is done with annotations whose term is not declared.
    public var terms: Terms
    /// What is done with names that are no simple identifiers.
    public var names: Names
    /// What is done with names that differ in case alone.
    public var caseConflicts: CaseConflicts
    /// What is done with facets that cannot be.
    public var facets: Facets
    /// Whether a warning tells of each name and path that leads to nothing which the documents declare: key properties,
    /// partners, referential constraints, bindings, the operations and sets of imports, targets of annotations, ends of
    /// associations, extended containers, included schemas. Without it, a warning tells of each undeclared type once.
    public var warnsOfDanglingReferences: Bool
    /// Whether a decimal that states no scale may have any number of digits behind the point, and not none at all.
    public var defaultsToVariableScale: Bool
    /// Whether a geo value that states no reference system may name any, and not that of its family alone.
    public var defaultsToVariableSRID: Bool
    /// Whether elements of CSDL 4 within a document of CSDL 1 to 3 are read, and the other way round, as gateways write
    /// them. Else those of the other kind than the first schema's are left out.
    public var readsMixedVersions: Bool
    /// Whether elements that the annotation `com.sap.cloud.server.odata.sql.v1.ServerOnly` within them keeps from
    /// clients are left out.
    public var excludesServerOnlyElements: Bool
    /// Whether the model keeps the document it was read from (``EntityDataModel/originalText``).
    public var keepsOriginalText: Bool

    /// Makes options; what is left out is the lenient choice.
    public init(
        references: References = .custom, documentURL: String? = nil, annotations: Annotations = .all,
        terms: Terms = .kept, names: Names = .allowed, caseConflicts: CaseConflicts = .allowed,
        facets: Facets = .warned, warnsOfDanglingReferences: Bool = false, defaultsToVariableScale: Bool = false,
        defaultsToVariableSRID: Bool = false, readsMixedVersions: Bool = true, excludesServerOnlyElements: Bool = false,
        keepsOriginalText: Bool = false
    ) {
        self.references = references
        self.documentURL = documentURL
        self.annotations = annotations
        self.terms = terms
        self.names = names
        self.caseConflicts = caseConflicts
        self.facets = facets
        self.warnsOfDanglingReferences = warnsOfDanglingReferences
        self.defaultsToVariableScale = defaultsToVariableScale
        self.defaultsToVariableSRID = defaultsToVariableSRID
        self.readsMixedVersions = readsMixedVersions
        self.excludesServerOnlyElements = excludesServerOnlyElements
        self.keepsOriginalText = keepsOriginalText
    }
}
