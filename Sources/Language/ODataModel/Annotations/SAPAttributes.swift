/// The attributes of `http://www.sap.com/Protocols/SAPData`, which V2 metadata uses instead of annotations, and the
/// equivalent annotations (SAP Annotations for OData Version 2.0; OData and SAP vocabularies).
///
/// Attributes with the older prefix `gp:` are treated in the same way.
enum SAPAttributes {
    /// Returns the annotations that are equivalent to the SAP attributes among `annotations`.
    ///
    /// Attributes without an equivalent are skipped. Several attributes can contribute to one term, whose record
    /// then contains all of them.
    static func annotations(for annotations: [Annotation], on kind: AnnotatedKind) -> [Annotation] {
        var result: [Annotation] = []
        for attribute in annotations {
            for annotation in self.annotations(for: attribute, among: annotations, on: kind) {
                result.merge(annotation)
            }
        }
        return result
    }

    /// Returns the annotations that are equivalent to one attribute.
    ///
    /// - Parameters:
    ///   - attribute: the attribute as the model keeps it, with a term such as `sap:label`.
    ///   - all: the annotations on the element, because some attributes qualify each other.
    ///   - kind: the kind of the annotated element.
    static func annotations(
        for attribute: Annotation, among all: [Annotation], on kind: AnnotatedKind
    ) -> [Annotation] {
        guard let name = name(of: attribute.term), case .constant(_, let text)? = attribute.value else { return [] }
        if let term = texts[name] { return [Annotation(term: term, value: .constant(kind: "String", text: text))] }
        if let term = paths[name] { return [Annotation(term: term, value: .path(kind: "Path", text: text))] }
        if let term = tags[name] { return [Annotation(term: term, value: flag(text))] }
        if kind == .entitySet, let (term, property) = restrictions[name] {
            let value = AnnotationExpression.RecordProperty(name: property, value: flag(text))
            return [Annotation(term: capabilities + term, value: .record(type: nil, properties: [value]))]
        }
        if kind == .property, name == "updatable", !isTrue(text) {
            // The service computes a property that a client can neither set on creation nor change.
            let isCreatable = all.first { self.name(of: $0.term) == "creatable" }?.value?.string.map(isTrue) ?? true
            return [Annotation(term: core + (isCreatable ? "Immutable" : "Computed"), value: flag("true"))]
        }
        if kind == .property, name == "server-generated", isTrue(text) {
            return [Annotation(term: core + "Computed", value: flag("true"))]
        }
        return special(name, text)
    }

    private static func flag(_ text: String) -> AnnotationExpression {
        .constant(kind: "Bool", text: isTrue(text) ? "true" : "false")
    }

    /// Returns the name after `sap:` or `gp:`; `nil` for other terms.
    static func name(of term: String) -> String? {
        (term.rest(behind: "sap:") ?? term.rest(behind: "gp:")).map(String.init)
    }

    static func isTrue(_ text: String) -> Bool { Bool(attribute: text) == true }

    private static let common = Vocabulary.common
    private static let capabilities = Vocabulary.capabilities
    private static let core = Vocabulary.core
    private static let analytics = Vocabulary.analytics

    private static let texts = [
        "label": common + "Label", "heading": common + "Heading", "quickinfo": common + "QuickInfo",
        "schema-version": Vocabulary.schemaVersion, "super-ordinate": analytics + "SuperOrdinate",
        "attribute-for": analytics + "AttributeOf", "semantic-object": common + "SemanticObject",
        "hierarchy-node-for": common + "HierarchyNodeFor",
        "hierarchy-qualifier": common + "HierarchyQualifier", "validation-regexp": Vocabulary.pattern,
    ]
    private static let paths = ["text": common + "Text", "precision": Vocabulary.measures + "Scale"]
    private static let tags = [
        "is-annotation": common + "IsAnnotation", "is-extension-field": common + "IsExtensionField",
        "required-in-filter": common + "IsRequiredInFilter", "is-thing-of": common + "IsThing",
    ]
    /// The restriction terms of entity sets, with the property that corresponds to each attribute.
    private static let restrictions = [
        "creatable": ("InsertRestrictions", "Insertable"), "updatable": ("UpdateRestrictions", "Updatable"),
        "deletable": ("DeleteRestrictions", "Deletable"), "searchable": ("SearchRestrictions", "Searchable"),
        "requires-filter": ("FilterRestrictions", "RequiresFilter"), "countable": ("CountRestrictions", "Countable"),
        "addressable": ("ReadRestrictions", "Readable"), "change-tracking": ("ChangeTracking", "Supported"),
    ]

    private static func special(_ name: String, _ text: String) -> [Annotation] {
        func constant(_ term: String, kind: String, value: String) -> [Annotation] {
            [Annotation(term: term, value: .constant(kind: kind, text: value))]
        }
        let tag = AnnotationExpression.constant(kind: "Bool", text: "true")
        switch name {
        case "visible": return isTrue(text) ? [] : [Annotation(term: Vocabulary.hidden, value: tag)]
        case "topable":
            return constant(capabilities + "TopSupported", kind: "Bool", value: isTrue(text) ? "true" : "false")
        case "pageable":
            let value = isTrue(text) ? "true" : "false"
            return constant(capabilities + "TopSupported", kind: "Bool", value: value)
                + constant(capabilities + "SkipSupported", kind: "Bool", value: value)
        case "unit":
            // The semantics of the named property determine whether the property contains a currency or a unit of
            // measure.
            return [Annotation(term: Vocabulary.measures + "Unit", value: .path(kind: "Path", text: text))]
        case "aggregation-role":
            switch text {
            case "dimension": return [Annotation(term: analytics + "Dimension", value: tag)]
            case "measure": return [Annotation(term: analytics + "Measure", value: tag)]
            default: return []
            }
        case "display-format":
            switch text {
            case "Date": return constant(common + "IsCalendarDate", kind: "Bool", value: "true")
            case "UpperCase": return constant(common + "IsUpperCase", kind: "Bool", value: "true")
            case "NonNegative": return constant(Vocabulary.validation + "Minimum", kind: "Int", value: "0")
            default: return []
            }
        case "field-control": return [Annotation(term: common + "FieldControl", value: .path(kind: "Path", text: text))]
        case "updatable-path", "deletable-path", "creatable-path":
            let kind =
                name == "updatable-path"
                ? ("Update", "Updatable")
                : name == "deletable-path" ? ("Delete", "Deletable") : ("Insert", "Insertable")
            return [
                Annotation(
                    term: "\(capabilities)\(kind.0)Restrictions",
                    value: .record(
                        type: nil, properties: [.init(name: kind.1, value: .path(kind: "Path", text: text))]))
            ]
        case "filter-restriction":
            let values = ["single-value": "SingleValue", "multi-value": "MultiValue", "interval": "SingleRange"]
            guard let value = values[text] else { return [] }
            return constant(common + "FilterExpressionType", kind: "String", value: value)
        case "semantics": return semantics(text)
        case "value-list":
            return text == "fixed-values"
                ? constant(common + "ValueListWithFixedValues", kind: "Bool", value: "true") : []
        case "action-for": return constant(common + "IsActionFor", kind: "String", value: text)
        case "text-for": return [Annotation(term: common + "TextFor", value: .path(kind: "PropertyPath", text: text))]
        case "supported-formats":
            let types = ["atom": "application/atom+xml", "json": "application/json"]
            let xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
            let formats = text.split(whereSeparator: \.isWhitespace).map(String.init).map { format in
                AnnotationExpression.constant(
                    kind: "String", text: types[format] ?? (format == "xlsx" ? xlsx : format))
            }
            return [Annotation(term: capabilities + "SupportedFormats", value: .collection(formats))]
        case "applicable-path":
            return [Annotation(term: Vocabulary.operationAvailable, value: .path(kind: "Path", text: text))]
        case "lower-boundary", "upper-boundary":
            return [
                Annotation(
                    term: common + "Interval",
                    value: .record(
                        type: nil,
                        properties: [
                            .init(
                                name: name == "lower-boundary" ? "LowerBoundary" : "UpperBoundary",
                                value: .path(kind: "PropertyPath", text: text))
                        ]))
            ]
        case "hierarchy-level-for", "hierarchy-parent-node-for", "hierarchy-parent-navigation-for",
            "hierarchy-drill-state-for", "hierarchy-node-external-key-for", "hierarchy-node-descendant-count-for",
            "hierarchy-preorder-rank-for", "hierarchy-sibling-rank-for":
            let words = name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }
            return [Annotation(term: common + words.joined(), value: .path(kind: "PropertyPath", text: text))]
        default: return []
        }
    }

    /// Returns the annotations for a `sap:semantics` value: contacts, calendars, currencies and parts of dates.
    private static func semantics(_ text: String) -> [Annotation] {
        let tag = AnnotationExpression.constant(kind: "Bool", text: "true")
        // The text after a semicolon qualifies the value: `tel;type=cell,work`.
        let base = text.split(separator: ";").first.map(String.init) ?? text
        let terms = [
            "email": Vocabulary.communication + "IsEmailAddress",
            "tel": Vocabulary.communication + "IsPhoneNumber",
            "url": Vocabulary.isURL, "url-ext": Vocabulary.isURL,
            "currency-code": common + "IsCurrency", "unit-of-measure": common + "IsUnit",
            "year": common + "IsCalendarYear", "yearmonth": common + "IsCalendarYearMonth",
            "yearmonthday": common + "IsCalendarDate", "fiscalyear": common + "IsFiscalYear",
            "fiscalyearperiod": common + "IsFiscalYearPeriod", "variable": analytics + "Parameter",
        ]
        guard let term = terms[base] else { return [] }
        return [Annotation(term: term, value: tag)]
    }
}

extension Bool {
    /// Parses a boolean attribute as services write it: `true` and `1`, `false` and `0` (XML Schema 2, 3.2.2), the
    /// flag `X` of ABAP, and `yes` and `no`. Case and surrounding blanks are ignored.
    package init?(attribute text: String) {
        switch text.split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased() {
        case "true", "1", "x", "yes": self = true
        case "false", "0", "no": self = false
        default: return nil
        }
    }
}

extension [Annotation] {
    /// Adds an annotation; if the term exists already, the properties of both records are merged.
    fileprivate mutating func merge(_ annotation: Annotation) {
        guard let index = firstIndex(where: { $0.term == annotation.term }) else { return append(annotation) }
        guard case .record(let type, let properties)? = self[index].value, case .record(_, let more)? = annotation.value
        else { return }
        let added = more.filter { property in !properties.contains { $0.name == property.name } }
        self[index].value = .record(type: type, properties: properties + added)
    }
}
