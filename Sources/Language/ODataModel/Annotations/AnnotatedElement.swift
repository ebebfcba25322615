/// A model element with annotations.
///
/// V3 and V4 have annotations. V2 has attributes of other vocabularies such as `sap:label` with the same meaning.
/// The properties give the same answer for both notations:
///
/// ```swift
/// property.label                       // sap:label or Common.Label
/// entitySet.isSearchable               // sap:searchable or Capabilities.SearchRestrictions
/// property.annotation("Org.OData.Core.V1.Description")
/// property.rawAttribute("sap:display-format")
/// ```
public protocol AnnotatedElement {
    /// The annotations as stated in the document; attributes of other vocabularies have terms such as `sap:label`.
    var annotations: [Annotation] { get }
    /// The kind of element, which determines the meaning of some attributes.
    static var annotatedKind: AnnotatedKind { get }
}

/// Kinds of model elements that interpret the same attribute differently: `sap:creatable` has different meanings on
/// a set and on a property.
public enum AnnotatedKind: Sendable {
    /// An entity set or singleton.
    case entitySet
    /// A structural property or parameter.
    case property
    /// Anything else.
    case other
}

/// An attribute of a vocabulary other than CSDL, as stated in the document.
public struct RawAttribute: Hashable, Sendable {
    /// The namespace; empty for an attribute without prefix.
    public var namespace: String
    /// The name without prefix.
    public var name: String
    /// The value as text.
    public var value: String

    /// Creates an attribute.
    public init(namespace: String, name: String, value: String) {
        self.namespace = namespace
        self.name = name
        self.value = value
    }
}

extension AnnotatedElement {
    /// The default: an element without a kind of its own.
    public static var annotatedKind: AnnotatedKind { .other }

    /// The attributes of other vocabularies, in document order.
    public var rawAttributes: [RawAttribute] {
        annotations.compactMap { annotation in
            guard let attribute = ForeignAttribute(annotation), let value = annotation.value?.string else {
                return nil
            }
            return RawAttribute(namespace: attribute.namespace, name: attribute.name, value: value)
        }
    }

    /// Returns the value of an attribute of another vocabulary.
    ///
    /// - Parameter name: the name with the usual prefix `sap:`, `gp:`, `m:` or `xml:`, or `{namespace}name`. The
    ///   prefix in the document does not matter.
    public func rawAttribute(_ name: String) -> String? {
        annotations.first { $0.term == name }?.value?.string
    }

    /// Returns the value of a SAP attribute with the newer prefix `sap:` or the older prefix `gp:`.
    public func sapAttribute(_ name: String) -> String? { rawAttribute("sap:\(name)") ?? rawAttribute("gp:\(name)") }

    /// All annotations of V3 and V4: those in the document, and the equivalents of its SAP attributes.
    ///
    /// If the document has both for one term, its annotation takes precedence.
    public var vocabularyAnnotations: [Annotation] {
        let stated = annotations.filter { ForeignAttribute($0) == nil }
        let meant = SAPAttributes.annotations(for: annotations, on: Self.annotatedKind)
        return stated + meant.filter { annotation in !stated.contains { $0.term == annotation.term } }
    }

    /// Returns the annotation with a term, stated in the document or derived from a SAP attribute.
    ///
    /// - Parameters:
    ///   - term: the full name, such as `Org.OData.Core.V1.Description`.
    ///   - qualifier: the qualifier; `nil` for the annotation without one, or the first one if all are qualified.
    public func annotation(_ term: String, qualifier: String? = nil) -> Annotation? {
        if let qualifier { return annotations.first { $0.term == term && $0.qualifier == qualifier } }
        if let annotation = annotations.annotation(term) { return annotation }
        return SAPAttributes.annotations(for: annotations, on: Self.annotatedKind).first { $0.term == term }
    }

    func string(_ term: String) -> String? { annotation(term)?.value?.string }

    /// Returns the value of a tagging term; an annotation without a value means `true`.
    package func tag(_ term: String) -> Bool? {
        guard let annotation = annotation(term) else { return nil }
        return annotation.value.map { $0.boolean ?? true } ?? true
    }

    /// Returns a boolean property of a term whose values are records.
    func restriction(_ term: String, _ property: String) -> Bool? {
        annotation(term)?.value?.recordProperty(property)?.boolean
    }

    /// Returns the path in a property of a term whose values are records.
    func restrictionPath(_ term: String, _ property: String) -> String? {
        guard case .path(_, let path)? = annotation(term)?.value?.recordProperty(property) else { return nil }
        return path
    }

    func path(_ term: String) -> String? {
        guard case .path(_, let path)? = annotation(term)?.value else { return nil }
        return path
    }
}

extension AnnotationExpression {
    /// Returns the value of a property of a record; `nil` if the expression is not a record or lacks the property.
    public func recordProperty(_ name: String) -> AnnotationExpression? {
        guard case .record(_, let properties) = self else { return nil }
        return properties.first { $0.name == name }?.value
    }
}

extension ODataSchema: AnnotatedElement {}
extension StructuredType: AnnotatedElement {}
extension TypeShape: AnnotatedElement {}
extension EnumType: AnnotatedElement {}
extension EnumType.Member: AnnotatedElement {}
extension TypeDefinition: AnnotatedElement {}
extension Term: AnnotatedElement {}
extension Property: AnnotatedElement {
    /// The kind of an element that is restricted individually.
    public static var annotatedKind: AnnotatedKind { .property }
}
extension NavigationProperty: AnnotatedElement {}
extension ODataOperation: AnnotatedElement {}
extension ODataOperation.Parameter: AnnotatedElement {
    /// The kind of properties, because parameters are described in the same way.
    public static var annotatedKind: AnnotatedKind { .property }
}
extension EntityContainer: AnnotatedElement {}
extension EntitySet: AnnotatedElement {
    /// The kind of an element that is restricted as a whole.
    public static var annotatedKind: AnnotatedKind { .entitySet }
}
extension Singleton: AnnotatedElement {
    /// The kind of entity sets, because singletons are restricted in the same way.
    public static var annotatedKind: AnnotatedKind { .entitySet }
}
extension OperationImport: AnnotatedElement {}
extension Association: AnnotatedElement {}
extension AssociationSet: AnnotatedElement {}
