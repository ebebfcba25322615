/// A term applied to a model element (OData CSDL 4.01, 14 *Vocabulary and Annotation*).
public struct Annotation: Hashable, Sendable {
    /// The term with its alias resolved, such as `Org.OData.Core.V1.Description`.
    public var term: String
    /// The qualifier that distinguishes several annotations with one term; `nil` for none.
    public var qualifier: String?
    /// The value; `nil` if the term's default value applies.
    public var value: AnnotationExpression?
    /// The annotations on this annotation.
    public var annotations: [Annotation]

    /// Creates an annotation.
    public init(
        term: String, qualifier: String? = nil, value: AnnotationExpression? = nil, annotations: [Annotation] = []
    ) {
        self.term = term
        self.qualifier = qualifier
        self.value = value
        self.annotations = annotations
    }
}

/// Annotations on an element that the document does not declare
/// (OData CSDL 4.01, 5.2 *Annotations with External Targeting*).
public struct TargetedAnnotations: Hashable, Sendable {
    /// The path of the element, aliases resolved, such as `NS.Order/Freight`.
    public var target: String
    /// The annotations.
    public var annotations: [Annotation]

    /// Creates targeted annotations.
    public init(target: String, annotations: [Annotation]) {
        self.target = target
        self.annotations = annotations
    }
}

/// The value of an annotation: constants, paths, collections and records. Dynamic expressions keep their element
/// tree (OData CSDL 4.01, 14.3 and 14.4).
public indirect enum AnnotationExpression: Hashable, Sendable {
    /// A constant of the named kind in its lexical form, such as (`String`, `Order number`).
    case constant(kind: String, text: String)
    /// A path of the named kind, such as (`PropertyPath`, `Address/City`).
    case path(kind: String, text: String)
    /// An ordered collection.
    case collection([AnnotationExpression])
    /// A record with an optional type and its property values, in document order.
    case record(type: String?, properties: [RecordProperty])
    /// Any other expression element (`Apply`, `If`, `And`, …) with its attributes and operands.
    case dynamic(element: String, attributes: [String: String], operands: [AnnotationExpression])

    /// One property of a record, or an annotation on the record or one of its properties. The name of an annotation
    /// is `@term#qualifier` or `property@term#qualifier`, as in CSDL JSON.
    public struct RecordProperty: Hashable, Sendable {
        /// The property's name.
        public var name: String
        /// The property's value; `nil` if the default applies.
        public var value: AnnotationExpression?

        /// Creates a record property.
        public init(name: String, value: AnnotationExpression?) {
            self.name = name
            self.value = value
        }
    }

    /// The text of a string constant.
    public var string: String? {
        if case .constant("String", let text) = self { text } else { nil }
    }

    /// The value of a boolean constant.
    public var boolean: Bool? {
        if case .constant("Bool", let text) = self { Bool(stated: text) == true } else { nil }
    }
}

extension AnnotationExpression {
    /// Returns the representation of an annotation as an operand of an expression.
    static func annotation(_ annotation: Annotation) -> AnnotationExpression {
        var attributes = ["Term": annotation.term]
        attributes["Qualifier"] = annotation.qualifier
        let value = annotation.value.map { [$0] } ?? []
        return .dynamic(
            element: "Annotation", attributes: attributes,
            operands: value + annotation.annotations.map { .annotation($0) })
    }

    /// The annotation that this operand represents; `nil` for other operands.
    var annotation: Annotation? {
        guard case .dynamic("Annotation", let attributes, let operands) = self, let term = attributes["Term"] else {
            return nil
        }
        let nested = operands.compactMap(\.annotation)
        return Annotation(
            term: term, qualifier: attributes["Qualifier"], value: operands.first { $0.annotation == nil },
            annotations: nested)
    }
}

extension Annotation {
    /// `Core.Description`, which also represents the summary of V2 documentation.
    static let description = Vocabulary.description
    static let longDescription = Vocabulary.longDescription
}

extension Sequence<Annotation> {
    /// Returns the first unqualified annotation with `term`, or else the first qualified one.
    public func annotation(_ term: String) -> Annotation? {
        var qualified: Annotation?
        for annotation in self where annotation.term == term {
            if annotation.qualifier == nil { return annotation }
            qualified = qualified ?? annotation
        }
        return qualified
    }
}
