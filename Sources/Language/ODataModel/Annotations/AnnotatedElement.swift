/// A model element that can be annotated: with annotations of V3 and V4, and with attributes of other vocabularies such
/// as `sap:label`, which mean the same in V2.
///
/// What an element says is asked in one way, however its document says it:
///
/// ```swift
/// property.label                       // sap:label or Common.Label
/// entitySet.isSearchable               // sap:searchable or Capabilities.SearchRestrictions
/// property.annotation("Org.OData.Core.V1.Description")
/// property.rawAttribute("sap:display-format")
/// ```
public protocol AnnotatedElement {
    /// The annotations as the document has them; attributes of other vocabularies have terms such as `sap:label`.
    var annotations: [Annotation] { get }
    /// What kind of element it is, as far as the meaning of an attribute depends on it.
    static var annotatedKind: AnnotatedKind { get }
}

/// Kinds of model element that read the same attribute differently: what `sap:creatable` says of a set is another thing
/// than what it says of a property.
public enum AnnotatedKind: Sendable {
    /// An entity set or singleton.
    case entitySet
    /// A structural property or parameter.
    case property
    /// Anything else.
    case other
}

/// An attribute of another vocabulary than CSDL's, as the document has it.
public struct RawAttribute: Hashable, Sendable {
    /// The namespace; empty for an attribute without prefix.
    public var namespace: String
    /// The name without prefix.
    public var name: String
    /// The value.
    public var value: String

    /// Makes an attribute.
    public init(namespace: String, name: String, value: String) {
        self.namespace = namespace
        self.name = name
        self.value = value
    }
}

extension AnnotatedElement {
    /// Most elements have no kind of their own.
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

    /// The value of an attribute of another vocabulary.
    ///
    /// - Parameter name: the name with the usual prefix, `sap:`, `gp:`, `m:` or `xml:`, whatever the document has in its
    ///   place; or `{namespace}name`.
    public func rawAttribute(_ name: String) -> String? {
        annotations.first { $0.term == name }?.value?.string
    }

    /// The value of an attribute of SAP's, with the newer prefix `sap:` or the older `gp:`.
    public func sapAttribute(_ name: String) -> String? { rawAttribute("sap:\(name)") ?? rawAttribute("gp:\(name)") }

    /// All annotations of V3 and V4: those that the document has, and those that its attributes of SAP's mean.
    ///
    /// Where both are there, what the document says as an annotation holds.
    public var vocabularyAnnotations: [Annotation] {
        let stated = annotations.filter { ForeignAttribute($0) == nil }
        let meant = SAPAttributes.annotations(for: annotations, on: Self.annotatedKind)
        return stated + meant.filter { annotation in !stated.contains { $0.term == annotation.term } }
    }

    /// The annotation with a term, whether the document has it or an attribute of SAP's that means it.
    ///
    /// - Parameters:
    ///   - term: the full name, such as `Org.OData.Core.V1.Description`.
    ///   - qualifier: the qualifier; `nil` for the annotation without one, else the first that has one.
    public func annotation(_ term: String, qualifier: String? = nil) -> Annotation? {
        if let qualifier { return annotations.first { $0.term == term && $0.qualifier == qualifier } }
        if let annotation = annotations.annotation(term) { return annotation }
        return SAPAttributes.annotations(for: annotations, on: Self.annotatedKind).first { $0.term == term }
    }

    func string(_ term: String) -> String? { annotation(term)?.value?.string }

    /// The value of a term that is a tag: what states it without a value means it.
    package func tag(_ term: String) -> Bool? {
        guard let annotation = annotation(term) else { return nil }
        return annotation.value.map { $0.boolean ?? true } ?? true
    }

    /// A boolean property of a term whose values are records.
    func restriction(_ term: String, _ property: String) -> Bool? {
        annotation(term)?.value?.recordProperty(property)?.boolean
    }

    /// The path that a property of a term whose values are records has for its value.
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
    /// The value of a property of a record; `nil` where this is no record or does not state it.
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
    /// Properties are restricted one by one.
    public static var annotatedKind: AnnotatedKind { .property }
}
extension NavigationProperty: AnnotatedElement {}
extension ODataOperation: AnnotatedElement {}
extension ODataOperation.Parameter: AnnotatedElement {
    /// Parameters are described as properties are.
    public static var annotatedKind: AnnotatedKind { .property }
}
extension EntityContainer: AnnotatedElement {}
extension EntitySet: AnnotatedElement {
    /// Sets are restricted as a whole.
    public static var annotatedKind: AnnotatedKind { .entitySet }
}
extension Singleton: AnnotatedElement {
    /// Singletons are restricted as sets are.
    public static var annotatedKind: AnnotatedKind { .entitySet }
}
extension OperationImport: AnnotatedElement {}
extension Association: AnnotatedElement {}
extension AssociationSet: AnnotatedElement {}
