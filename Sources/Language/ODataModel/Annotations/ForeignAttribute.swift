/// An attribute that is not part of CSDL, such as `sap:label` or `m:FC_TargetPath`, by its namespace and name.
///
/// The model keeps the attribute as an annotation. For namespaces that OData services use, the term is
/// `prefix:name`, regardless of the prefix in the document. For all other namespaces, the term is
/// `{namespace}name`.
struct ForeignAttribute: Hashable {
    var namespace: String
    var name: String

    /// The well-known namespaces and their prefixes in terms.
    static let prefixes = [
        "http://www.sap.com/Protocols/SAPData": "sap",
        "http://www.sap.com/Protocols/SAPData/GenericPlayer": "gp",
        CSDLBuilder.metadataNamespace: "m",
        "http://schemas.microsoft.com/ado/2009/02/edm/annotation": "annotation",
        Self.xmlNamespace: "xml",
    ]

    /// The namespace of `xml:lang`. Its prefix needs no declaration, and no other prefix may be bound to it.
    static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

    /// The namespace of namespace declarations, which are not attributes.
    private static let declarations = "http://www.w3.org/2000/xmlns/"

    private static let namespaces = Dictionary(uniqueKeysWithValues: prefixes.map { ($1, $0) })

    init(namespace: String, name: String) {
        self.namespace = namespace
        self.name = name
    }

    /// Creates the attribute that an annotation represents; `nil` if the annotation is one of V3 or V4.
    init?(_ annotation: Annotation) {
        guard let attribute = Self.parse(annotation.term), attribute.term == annotation.term, attribute.isAllowed,
            annotation.qualifier == nil, annotation.annotations.isEmpty,
            case .constant("String", _) = annotation.value
        else { return nil }
        self = attribute
    }

    /// Whether XML can express the attribute, and neither XML nor CSDL defines a meaning for it.
    private var isAllowed: Bool {
        guard name.isXMLName, XMLOutput.canSay(namespace), namespace != Self.declarations, !isInModel else {
            return false
        }
        return !namespace.isEmpty || name == Self.mode || name != "xmlns" && CSDLName(name) == .other
    }

    /// Whether the model has a dedicated property for the attribute.
    var isInModel: Bool {
        guard namespace == CSDLBuilder.metadataNamespace || namespace.isEmpty else { return false }
        return Self.inModel.contains(name)
    }

    private static let inModel: Set = [
        "HasStream", "HttpMethod", "IsDefaultEntityContainer", "ConcurrencyMode", "DataServiceVersion",
        "MaxDataServiceVersion", "ElementType",
    ]

    /// The name of the attribute for the direction of a V2 parameter, which the model keeps as an attribute.
    static let mode = "Mode"

    private static func parse(_ term: String) -> ForeignAttribute? {
        if term.begins(with: "{") {
            guard let (namespace, name) = term.rest(behind: "{")?.halves(atLast: "}") else { return nil }
            return ForeignAttribute(namespace: String(namespace), name: String(name))
        }
        guard let colon = term.utf8.firstIndex(of: UInt8(ascii: ":")),
            let namespace = namespaces[String(term[..<colon])]
        else { return nil }
        return ForeignAttribute(namespace: namespace, name: String(term[term.utf8.index(after: colon)...]))
    }

    var term: String {
        if let prefix = Self.prefixes[namespace] { return "\(prefix):\(name)" }
        return "{\(namespace)}\(name)"
    }
}

extension String {
    /// Whether the string is a valid XML name without prefix (Namespaces in XML 1.0, 3 *NCName*).
    fileprivate var isXMLName: Bool {
        guard let first = unicodeScalars.first, first.beginsXMLName else { return false }
        return unicodeScalars.dropFirst().allSatisfy { $0.beginsXMLName || $0.continuesXMLName }
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is a *NameStartChar* of XML 1.0 (2.3) other than the colon. The ranges differ from the
    /// letters of current Unicode.
    fileprivate var beginsXMLName: Bool {
        switch value {
        case 0x41...0x5A, 0x5F, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF,
            0x200C...0x200D, 0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD,
            0x10000...0xEFFFF:
            true
        default: false
        }
    }

    /// Whether the scalar is one of the additional characters of *NameChar*.
    fileprivate var continuesXMLName: Bool {
        switch value {
        case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
        default: false
        }
    }
}
