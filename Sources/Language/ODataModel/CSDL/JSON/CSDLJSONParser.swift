/// Fills a ``CSDLContent`` from CSDL in JSON (OData CSDL JSON 4.01), with the elements and attributes of the
/// equivalent XML document. This file reads schemas and types; the extension reads expressions.
///
/// If the defaults of the two formats differ, the default of JSON is stated explicitly: properties are not
/// nullable, and decimals have a variable scale.
struct CSDLJSONParser {
    let tree: CSDLJSONTree
    var content: CSDLContent
    let source: String?
    /// Whether the document is of OData 4. CSDL JSON is defined only for OData 4.
    private var isV4 = true

    /// Reads a whole document and appends it to the content.
    static func parse(_ bytes: [UInt8], into content: inout CSDLContent, source: String?) throws(CSDLError) {
        let tree: CSDLJSONTree
        do throws(JSONError) {
            tree = try CSDLJSONTree(bytes)
        } catch {
            throw CSDLError(json: error, source: source)
        }
        let firstRoot = content.roots.count
        var parser = CSDLJSONParser(tree: tree, content: content, source: source)
        try parser.document()
        content = parser.content
        for root in firstRoot..<content.roots.count {
            content.roots[root].source = source
            content.roots[root].isJSON = true
        }
    }

    private init(tree: CSDLJSONTree, content: CSDLContent, source: String?) {
        self.tree = tree
        self.content = content
        self.source = source
    }

    func error(_ reason: CSDLError.Reason, at node: Int, expected: String) -> CSDLError {
        CSDLError(
            reason: reason, line: Int(tree.nodes[node].line), column: Int(tree.nodes[node].column), expected: expected,
            source: source)
    }

    func missing(_ member: String, in element: String, at node: Int, expected: String) -> CSDLError {
        error(.missingAttribute(member, element: element), at: node, expected: expected)
    }

    // MARK: Elements

    mutating func begin(_ name: CSDLName, at node: Int, other: String? = nil) {
        let otherName = other.map { content.strings.id($0) } ?? -1
        content.begin(name, otherName: otherName, line: tree.nodes[node].line, column: tree.nodes[node].column)
    }

    /// Adds an attribute from a member if the object contains the member.
    mutating func attribute(_ name: CSDLName, _ node: Int, key: String) throws(CSDLError) {
        guard let member = tree.member(node, key) else { return }
        guard let text = tree.text(member) else {
            throw error(
                .invalidAttribute(key, element: tree.nodes[node].key, value: "…"), at: member,
                expected: "a string, number or boolean")
        }
        content.attribute(name, text)
    }

    // MARK: The document

    private mutating func document() throws(CSDLError) {
        guard tree.isObject(0) else {
            throw error(.notCSDL(root: "an array or value"), at: 0, expected: "an object with $Version")
        }
        guard let version = tree.string(0, "$Version") else {
            throw error(.notCSDL(root: "an object without $Version"), at: 0, expected: "the member $Version")
        }
        isV4 = !"123".utf8.contains(version.utf8.first ?? 0)
        begin(.edmx, at: 0)
        // The first version of CSDL JSON is 4.0. An unknown version is read as 4.01.
        content.attribute(.version, isV4 && version != "4.0" ? "4.01" : version)
        if let references = tree.member(0, "$Reference") {
            for reference in tree.children(references) { try self.reference(reference) }
        }
        begin(.dataServices, at: 0)
        if !isV4 { content.attribute(.dataServiceVersion, version) }
        for node in tree.children(0) where tree.nodes[node].key.utf8.first != UInt8(ascii: "$") { try schema(node) }
        content.end()
        content.end()
    }

    private mutating func reference(_ node: Int) throws(CSDLError) {
        begin(.reference, at: node)
        content.attribute(.uri, tree.nodes[node].key)
        // Repeated inclusions are merged, with all their annotations in document order.
        var included: [[String?]: [Int]] = [:]
        var order: [[String?]] = []
        for include in tree.member(node, "$Include").map(tree.children) ?? [] {
            let name = [tree.string(include, "$Namespace"), tree.string(include, "$Alias")]
            if included[name] == nil { order.append(name) }
            included[name, default: []].append(include)
        }
        for includes in order.compactMap({ included[$0] }) {
            begin(.include, at: includes[0])
            try attribute(.namespace, includes[0], key: "$Namespace")
            try attribute(.alias, includes[0], key: "$Alias")
            for include in includes { try annotations(of: include) }
            content.end()
        }
        for include in tree.member(node, "$IncludeAnnotations").map(tree.children) ?? [] {
            begin(.includeAnnotations, at: include)
            try attribute(.termNamespace, include, key: "$TermNamespace")
            try attribute(.qualifier, include, key: "$Qualifier")
            try attribute(.targetNamespace, include, key: "$TargetNamespace")
            content.end()
        }
        try annotations(of: node)
        content.end()
    }

    private mutating func schema(_ node: Int) throws(CSDLError) {
        let namespace = tree.nodes[node].key
        guard tree.isObject(node) else {
            throw error(
                .invalidAttribute(namespace, element: "the document", value: "…"), at: node, expected: "a schema")
        }
        begin(.schema, at: node)
        content.attribute(.namespace, namespace)
        try attribute(.alias, node, key: "$Alias")
        try annotations(of: node)
        for child in tree.children(node) {
            let key = tree.nodes[child].key
            guard key.isOwnName else { continue }
            switch tree.nodes[child].value {
            case .array: for overload in tree.children(child) { try operation(overload, name: key) }
            case .object: try schemaChild(child, name: key)
            default:
                throw error(
                    .invalidAttribute(key, element: "Schema", value: tree.text(child) ?? ""), at: child,
                    expected: "an object with $Kind, or overloads")
            }
        }
        if let targets = tree.member(node, "$Annotations") {
            for target in tree.children(targets) {
                begin(.annotations, at: target)
                content.attribute(.target, tree.nodes[target].key)
                try annotations(of: target)
                content.end()
            }
        }
        content.end()
    }

    private mutating func schemaChild(_ node: Int, name: String) throws(CSDLError) {
        guard let kind = tree.string(node, "$Kind") else {
            throw missing("$Kind", in: name, at: node, expected: "the kind of schema element")
        }
        switch kind {
        case "EntityType", "ComplexType": try structuredType(node, kind == "EntityType" ? .entityType : .complexType)
        case "EnumType": try enumType(node)
        case "TypeDefinition":
            begin(.typeDefinition, at: node)
            content.attribute(.name, name)
            try attribute(.underlyingType, node, key: "$UnderlyingType")
            try facets(node, type: tree.string(node, "$UnderlyingType") ?? "")
            try annotations(of: node)
            content.end()
        case "Term":
            begin(.term, at: node)
            content.attribute(.name, name)
            try typeAndFacets(node)
            try attribute(.baseTerm, node, key: "$BaseTerm")
            if let appliesTo = tree.member(node, "$AppliesTo") {
                content.attribute(.appliesTo, tree.children(appliesTo).compactMap(tree.text).joined(separator: " "))
            }
            try annotations(of: node)
            content.end()
        case "EntityContainer": try container(node)
        case "Action", "Function": try operation(node, name: name)
        default:
            throw error(
                .invalidAttribute("$Kind", element: name, value: kind), at: node, expected: "a kind of schema element")
        }
    }

    // MARK: Types

    private mutating func structuredType(_ node: Int, _ element: CSDLName) throws(CSDLError) {
        begin(element, at: node)
        content.attribute(.name, tree.nodes[node].key)
        try attribute(.baseType, node, key: "$BaseType")
        try attribute(.abstract, node, key: "$Abstract")
        try attribute(.openType, node, key: "$OpenType")
        try attribute(.hasStream, node, key: "$HasStream")
        if let key = tree.member(node, "$Key") {
            begin(.key, at: key)
            for part in tree.children(key) {
                begin(.propertyRef, at: part)
                if let path = tree.text(part) {
                    content.attribute(.name, path)
                } else if let alias = tree.children(part).first, let path = tree.text(alias) {
                    content.attribute(.name, path)
                    content.attribute(.alias, tree.nodes[alias].key)
                }
                content.end()
            }
            content.end()
        }
        let owners = annotationOwners(of: node)
        for child in tree.children(node) {
            let key = tree.nodes[child].key
            guard key.isOwnName else { continue }
            guard tree.isObject(child) else {
                throw error(
                    .invalidAttribute(key, element: tree.nodes[node].key, value: tree.text(child) ?? "…"), at: child,
                    expected: "a property")
            }
            switch tree.string(child, "$Kind") ?? "Property" {
            case "Property":
                begin(.property, at: child)
                content.attribute(.name, key)
                try typeAndFacets(child)
                try annotations(of: child)
                content.end()
            case "NavigationProperty": try navigationProperty(child)
            case let kind:
                throw error(
                    .invalidAttribute("$Kind", element: key, value: kind), at: child,
                    expected: "Property or NavigationProperty")
            }
        }
        try annotations(owners[""] ?? [], owners)
        content.end()
    }

    private mutating func navigationProperty(_ node: Int) throws(CSDLError) {
        begin(.navigationProperty, at: node)
        content.attribute(.name, tree.nodes[node].key)
        let isCollection = try type(node)
        if !isCollection { content.attribute(.nullable, tree.boolean(node, "$Nullable") == true ? "true" : "false") }
        try attribute(.partner, node, key: "$Partner")
        try attribute(.containsTarget, node, key: "$ContainsTarget")
        if let constraints = tree.member(node, "$ReferentialConstraint") {
            let owners = annotationOwners(of: constraints)
            for constraint in tree.children(constraints) where tree.nodes[constraint].key.isOwnName {
                begin(.referentialConstraint, at: constraint)
                content.attribute(.property, tree.nodes[constraint].key)
                content.attribute(.referencedProperty, tree.text(constraint) ?? "")
                try annotations(owners[tree.nodes[constraint].key] ?? [], owners)
                content.end()
            }
        }
        let owners = annotationOwners(of: node)
        if let action = tree.member(node, "$OnDelete") {
            begin(.onDelete, at: action)
            content.attribute(.action, tree.text(action) ?? "")
            try annotations(owners["$OnDelete"] ?? [], owners)
            content.end()
        }
        try annotations(owners[""] ?? [], owners)
        content.end()
    }

    private mutating func enumType(_ node: Int) throws(CSDLError) {
        begin(.enumType, at: node)
        content.attribute(.name, tree.nodes[node].key)
        try attribute(.underlyingType, node, key: "$UnderlyingType")
        try attribute(.isFlags, node, key: "$IsFlags")
        let owners = annotationOwners(of: node)
        for member in tree.children(node) {
            let key = tree.nodes[member].key
            guard key.isOwnName else { continue }
            begin(.member, at: member)
            content.attribute(.name, key)
            content.attribute(.value, tree.text(member) ?? "")
            try annotations(owners[key] ?? [], owners)
            content.end()
        }
        try annotations(owners[""] ?? [], owners)
        content.end()
    }

    /// Adds the type from `$Type` and `$Collection`, and returns whether it is a collection.
    @discardableResult
    private mutating func type(_ node: Int) throws(CSDLError) -> Bool {
        let name = tree.string(node, "$Type") ?? "Edm.String"
        let isCollection = tree.boolean(node, "$Collection") == true
        content.attribute(.type, isCollection ? "Collection(\(name))" : name)
        return isCollection || name.collectionElement != nil
    }

    /// Adds the type, the nullability, the facets and the default value.
    ///
    /// - Parameter takesNull: whether an element with unstated nullability may be null, as parameters and results
    ///   before OData 4.
    private mutating func typeAndFacets(_ node: Int, takesNull: Bool = false) throws(CSDLError) {
        try type(node)
        let isNullable = tree.boolean(node, "$Nullable")
        // An XML element without the attribute has the same meaning.
        if isNullable != nil || !takesNull { content.attribute(.nullable, isNullable == true ? "true" : "false") }
        try facets(node, type: tree.string(node, "$Type") ?? "Edm.String")
        try attribute(.defaultValue, node, key: "$DefaultValue")
    }

    private mutating func facets(_ node: Int, type: String) throws(CSDLError) {
        try attribute(.maxLength, node, key: "$MaxLength")
        try attribute(.precision, node, key: "$Precision")
        try attribute(.scale, node, key: "$Scale")
        // True has the same meaning as the absence of the attribute.
        let isUnicode = tree.member(node, "$Unicode").flatMap(tree.text).flatMap(Bool.init(stated:))
        if isUnicode != true { try attribute(.unicode, node, key: "$Unicode") }
        try attribute(.srid, node, key: "$SRID")
        // An absent facet allows any number of digits in JSON, but none in XML (OData CSDL JSON 4.01, 7.2.2,
        // 7.2.3).
        let primitive = PrimitiveType(stated: type)
        if primitive == .decimal, tree.member(node, "$Scale") == nil { content.attribute(.scale, "variable") }
        if primitive?.hasSeconds == true, tree.member(node, "$Precision") == nil {
            content.attribute(.precision, "12")
        }
    }

    // MARK: Operations and containers

    private mutating func operation(_ node: Int, name: String) throws(CSDLError) {
        let kind = tree.isObject(node) ? tree.string(node, "$Kind") : nil
        guard kind == "Action" || kind == "Function" else {
            throw missing("$Kind", in: name, at: node, expected: "Action or Function")
        }
        begin(kind == "Action" ? .action : .function, at: node)
        content.attribute(.name, name)
        try attribute(.isBound, node, key: "$IsBound")
        try attribute(.isComposable, node, key: "$IsComposable")
        try attribute(.entitySetPath, node, key: "$EntitySetPath")
        for parameter in tree.member(node, "$Parameter").map(tree.children) ?? [] {
            begin(.parameter, at: parameter)
            try attribute(.name, parameter, key: "$Name")
            try typeAndFacets(parameter, takesNull: !isV4)
            try annotations(of: parameter)
            content.end()
        }
        if let result = tree.member(node, "$ReturnType") {
            begin(.returnType, at: result)
            try typeAndFacets(result, takesNull: !isV4)
            try annotations(of: result)
            content.end()
        }
        try annotations(of: node)
        content.end()
    }

    private mutating func container(_ node: Int) throws(CSDLError) {
        begin(.entityContainer, at: node)
        content.attribute(.name, tree.nodes[node].key)
        try attribute(.extends, node, key: "$Extends")
        let owners = annotationOwners(of: node)
        for child in tree.children(node) {
            let key = tree.nodes[child].key
            guard key.isOwnName else { continue }
            guard tree.isObject(child) else {
                throw error(
                    .invalidAttribute(key, element: "EntityContainer", value: tree.text(child) ?? "…"), at: child,
                    expected: "an entity set, singleton or import")
            }
            if tree.member(child, "$Action") != nil {
                begin(.actionImport, at: child)
                try attribute(.action, child, key: "$Action")
            } else if tree.member(child, "$Function") != nil {
                begin(.functionImport, at: child)
                try attribute(.function, child, key: "$Function")
            } else if tree.boolean(child, "$Collection") == true {
                begin(.entitySet, at: child)
                try attribute(.entityType, child, key: "$Type")
            } else {
                begin(.singleton, at: child)
                try attribute(.type, child, key: "$Type")
                try attribute(.nullable, child, key: "$Nullable")
            }
            content.attribute(.name, key)
            try attribute(.entitySet, child, key: "$EntitySet")
            try attribute(.includeInServiceDocument, child, key: "$IncludeInServiceDocument")
            for binding in tree.member(child, "$NavigationPropertyBinding").map(tree.children) ?? [] {
                begin(.navigationPropertyBinding, at: binding)
                content.attribute(.path, tree.nodes[binding].key)
                content.attribute(.target, tree.text(binding) ?? "")
                content.end()
            }
            try annotations(of: child)
            content.end()
        }
        try annotations(owners[""] ?? [], owners)
        content.end()
    }
}

extension CSDLError {
    /// Converts an error of the scanner to an error of the document.
    fileprivate init(json error: JSONError, source: String?) {
        let reason: Reason
        switch error.reason {
        case .needsMoreData, .unexpectedEnd: reason = .truncated
        case .tooDeep: reason = .tooDeep
        case .duplicateMember(let name): reason = .duplicateName(name)
        case .unexpected(let found): reason = .malformedJSON("found \(found)")
        case .invalidUTF8: reason = .malformedJSON("not UTF-8")
        case .controlCharacter: reason = .malformedJSON("a control character in a string")
        case .invalidEscape: reason = .malformedJSON("not a valid escape")
        case .invalidValue(let text), .unknownProperty(let text): reason = .malformedJSON(text)
        }
        self.init(
            reason: reason, line: error.position.line, column: error.position.column, expected: error.expected,
            source: source)
    }
}

extension String {
    /// Whether a member's name is defined by the document, and is neither an annotation nor a CSDL keyword.
    fileprivate var isOwnName: Bool {
        !utf8.contains(UInt8(ascii: "@")) && utf8.first != UInt8(ascii: "$")
    }
}
