extension CSDLJSONParser {
    /// The annotations among an object's members, by annotated member: `""` for the object itself, `name` for a
    /// member, `name@term` for an annotation (OData CSDL JSON 4.01, 14.2).
    typealias AnnotationOwners = [String: [Int]]

    func annotationOwners(of node: Int) -> AnnotationOwners {
        var result: AnnotationOwners = [:]
        var next = tree.nodes[node].firstChild
        while next >= 0 {
            let key = tree.nodes[Int(next)].key
            if let at = key.utf8.lastIndex(of: UInt8(ascii: "@")), key != "@type", key != "@odata.type" {
                result[String(key[..<at]), default: []].append(Int(next))
            }
            next = tree.nodes[Int(next)].nextSibling
        }
        return result
    }

    /// Adds the annotations on an object.
    mutating func annotations(of node: Int) throws(CSDLError) {
        let owners = annotationOwners(of: node)
        try annotations(owners[""] ?? [], owners)
    }

    /// Adds the annotations in some members, and the annotations on these. ``CSDLReader/maxDepth`` limits the
    /// nesting.
    mutating func annotations(_ members: [Int], _ owners: AnnotationOwners) throws(CSDLError) {
        for member in members {
            let key = tree.nodes[member].key
            let (term, qualifier) = (key.halves(atLast: "@")?.behind ?? key[...]).termAndQualifier
            try checkDepth(member)
            begin(.annotation, at: member)
            content.attribute(.term, String(term))
            if let qualifier { content.attribute(.qualifier, String(qualifier)) }
            try value(of: member)
            try annotations(owners[key] ?? [], owners)
            content.end()
        }
    }

    private func checkDepth(_ node: Int) throws(CSDLError) {
        guard content.depth < CSDLReader.maxDepth else {
            throw error(.tooDeep, at: node, expected: "at most \(CSDLReader.maxDepth) levels")
        }
    }

    /// Adds the value of an annotation, record property or labelled element, as an attribute if possible.
    private mutating func value(of node: Int) throws(CSDLError) {
        switch tree.nodes[node].value {
        case .string(let text): content.attribute(.string, text)
        case .boolean(let value): content.attribute(.bool, value ? "true" : "false")
        case .number(let text): content.attribute(Self.numberName(text), text)
        default: try expression(node)
        }
    }

    private static func numberName(_ text: String) -> CSDLName {
        if text.utf8.contains(where: { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }) { return .float }
        return text.utf8.contains(UInt8(ascii: ".")) ? .decimal : .int
    }

    private mutating func leaf(_ name: CSDLName, _ text: String, at node: Int) {
        begin(name, at: node)
        var text = text
        text.withUTF8 { content.end(text: $0) }
    }

    /// Adds an expression as an element (OData CSDL JSON 4.01, 14.3 and 14.4).
    private mutating func expression(_ node: Int) throws(CSDLError) {
        try checkDepth(node)
        switch tree.nodes[node].value {
        case .string(let text): leaf(.string, text, at: node)
        case .boolean(let value): leaf(.bool, value ? "true" : "false", at: node)
        case .number(let text): leaf(Self.numberName(text), text, at: node)
        case .null:
            begin(.other, at: node, other: "Null")
            content.end()
        case .array:
            begin(.collection, at: node)
            for item in tree.children(node) { try expression(item) }
            content.end()
        case .object: try objectExpression(node)
        }
    }

    /// The members that mark an object as a dynamic expression, named as the corresponding XML elements.
    private static let operators = [
        "And", "Or", "Not", "Eq", "Ne", "Gt", "Ge", "Lt", "Le", "Has", "In", "Add", "Sub", "Neg", "Mul", "Div", "DivBy",
        "Mod", "Apply", "Cast", "IsOf", "If", "LabeledElement", "Null", "UrlRef",
    ]

    private mutating func objectExpression(_ node: Int) throws(CSDLError) {
        if let path = tree.string(node, "$Path") { return leaf(.path, path, at: node) }
        if let name = tree.string(node, "$LabeledElementReference") {
            return leaf(.labeledElementReference, name, at: node)
        }
        for name in Self.operators {
            if let operand = tree.member(node, "$" + name) { return try operation(name, operand, node: node) }
        }
        try record(node)
    }

    private mutating func operation(_ name: String, _ operand: Int, node: Int) throws(CSDLError) {
        let element = CSDLName(name)
        begin(element, at: node, other: element == .other ? name : nil)
        if name == "Apply" { otherAttribute("Function", node) }
        if name == "LabeledElement" { try attribute(.name, node, key: "$Name") }
        if name == "Cast" || name == "IsOf" {
            let type = tree.string(node, "$Type") ?? "Edm.String"
            content.attribute(.type, tree.boolean(node, "$Collection") == true ? "Collection(\(type))" : type)
            try attribute(.maxLength, node, key: "$MaxLength")
            try attribute(.precision, node, key: "$Precision")
            try attribute(.scale, node, key: "$Scale")
            if let isUnicode = tree.boolean(node, "$Unicode") { content.attribute(.unicode, "\(isUnicode)") }
            try attribute(.srid, node, key: "$SRID")
        }
        switch (name, tree.nodes[operand].value) {
        case ("Null", _): break
        case ("Not", _), ("Neg", _), ("Cast", _), ("IsOf", _), ("LabeledElement", _), ("UrlRef", _):
            try expression(operand)
        case (_, .array): for item in tree.children(operand) { try expression(item) }
        default:
            throw error(
                .invalidAttribute("$" + name, element: "expression", value: tree.text(operand) ?? "…"), at: operand,
                expected: "an array of expressions")
        }
        try annotations(of: node)
        content.end()
    }

    private mutating func otherAttribute(_ name: String, _ node: Int) {
        guard let text = tree.string(node, "$" + name) else { return }
        content.attribute(CSDLName(name), value: content.strings.id(text))
    }

    private mutating func record(_ node: Int) throws(CSDLError) {
        begin(.record, at: node)
        if let type = tree.string(node, "@type") ?? tree.string(node, "@odata.type") {
            content.attribute(.type, type.halves(atLast: "#").map { String($0.behind) } ?? type)
        }
        let owners = annotationOwners(of: node)
        for member in tree.children(node) {
            let key = tree.nodes[member].key
            guard !key.utf8.contains(UInt8(ascii: "@")) else { continue }
            begin(.propertyValue, at: member)
            content.attribute(.property, key)
            try value(of: member)
            try annotations(owners[key] ?? [], owners)
            content.end()
        }
        try annotations(owners[""] ?? [], owners)
        content.end()
    }
}
