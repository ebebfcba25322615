/// Options for the choices that the standard leaves to a reader of metadata.
///
/// ```swift
/// var options = CSDLReaderOptions()
/// options.facets = .strict
/// let result = try CSDLReader.parse(bytes, options: options)
/// ```
public struct CSDLReaderOptions: Hashable, Sendable {
    /// The kinds of references to other documents that a loader follows.
    public struct References: OptionSet, Hashable, Sendable {
        /// The raw bits.
        public let rawValue: Int

        /// Creates a set from its raw bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// References to OASIS and SAP vocabularies, whose terms every tool knows.
        public static let standard = References(rawValue: 1)
        /// References to documents of the service itself: relative URIs, and absolute URIs with the scheme, host
        /// and port of ``CSDLReaderOptions/documentURL``.
        public static let sameOrigin = References(rawValue: 2)
        /// References to documents of other services.
        public static let otherOrigin = References(rawValue: 4)
        /// No references.
        public static let ignored: References = []
        /// All references except those to standard vocabularies.
        public static let custom: References = [.sameOrigin, .otherOrigin]
        /// All references.
        public static let all: References = [.standard, .sameOrigin, .otherOrigin]
    }

    /// The annotations that the model keeps.
    public enum Annotations: Hashable, Sendable {
        /// No annotations, and no attributes of other vocabularies.
        case ignored
        /// Attributes of other vocabularies such as `sap:label`, but no annotations of V3 and V4.
        case attributes
        /// Annotations of V3 and V4, but no attributes of other vocabularies.
        case elements
        /// All annotations and attributes.
        case all
    }

    /// The treatment of annotations with undeclared terms.
    ///
    /// A term counts as declared if a document that was read, an OASIS or SAP vocabulary, or a referenced but
    /// unread document declares it.
    public enum Terms: Hashable, Sendable {
        /// The annotations are kept.
        case kept
        /// The annotations are kept with a warning.
        case warned
        /// The annotations are dropped.
        case ignored
        /// The OASIS and SAP vocabularies of the used terms are read too, even if the document does not refer to
        /// them (``CSDLReader/parse(_:options:loader:)``). A warning reports the terms that remain undeclared.
        case resolved
    }

    /// The treatment of names that are not simple identifiers (OData CSDL 4.01, 15.2).
    public enum Names: Hashable, Sendable {
        /// The names are accepted.
        case allowed
        /// The names are accepted with a warning.
        case warned
        /// The document is refused.
        case refused
    }

    /// The treatment of two properties of a type, two types or two sets whose names differ only in case.
    public enum CaseConflicts: Hashable, Sendable {
        /// The names are accepted, as OData allows them.
        case allowed
        /// The names are accepted with a warning.
        case warned
        /// The document is refused.
        case refused
    }

    /// The treatment of invalid facets, such as a scale above the precision or a length that is not a number.
    public enum Facets: Hashable, Sendable {
        /// The facets are ignored.
        case ignored
        /// The facets are ignored with a warning.
        case warned
        /// The document is refused.
        case strict
    }

    /// A document of annotations for elements of the document that is read, such as the metadata of a service that
    /// cannot be changed (`Annotations` with `Target`, OData CSDL 4.01, 14.2).
    public struct AnnotationDocument: Hashable, Sendable {
        /// The name of the document in errors and warnings, such as a path.
        public var source: String
        /// The document in XML or JSON.
        public var bytes: [UInt8]

        /// Creates a document.
        public init(_ bytes: [UInt8], source: String) {
            self.source = source
            self.bytes = bytes
        }
    }

    /// The kinds of references to follow.
    public var references: References
    /// Documents whose annotations are added to the elements of the document that is read. An annotation with the same
    /// term in that document counts first.
    ///
    /// A target that no document declares, a term that `Outpost.Objects.V1` does not have, and everything but
    /// annotations cause warnings with the source.
    public var annotationDocuments: [AnnotationDocument] = []
    /// The URL of the document, which identifies references within the same service; `nil` if unknown. Without the
    /// URL, only relative references count as the service's own.
    public var documentURL: String?
    /// The annotations that the model keeps.
    public var annotations: Annotations
    /// The treatment of annotations with undeclared terms.
    public var terms: Terms
    /// The treatment of names that are not simple identifiers.
    public var names: Names
    /// The treatment of names that differ only in case.
    public var caseConflicts: CaseConflicts
    /// The treatment of invalid facets.
    public var facets: Facets
    /// Whether each name and path without a declared target causes a warning.
    ///
    /// The names and paths include key properties, partners, referential constraints, bindings, operations and sets
    /// of imports, targets of annotations, ends of associations, extended containers and included schemas. If
    /// false, only undeclared types cause a warning, once each.
    public var warnsOfDanglingReferences: Bool
    /// Whether a decimal without a stated scale may have any number of decimal places instead of none.
    public var defaultsToVariableScale: Bool
    /// Whether a geo value without a stated reference system may use any system instead of its family's default.
    public var defaultsToVariableSRID: Bool
    /// Whether CSDL 4 elements in a document of CSDL 1 to 3 are read, and vice versa, because some gateways mix
    /// them. If false, elements of the other version than the first schema's are ignored.
    public var readsMixedVersions: Bool
    /// Whether elements are ignored that contain the annotation `com.sap.cloud.server.odata.sql.v1.ServerOnly`,
    /// which hides them from clients.
    public var excludesServerOnlyElements: Bool
    /// Whether the model keeps its source document (``EntityDataModel/originalText``).
    public var keepsOriginalText: Bool

    /// Creates options; the default of each is the lenient choice.
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
