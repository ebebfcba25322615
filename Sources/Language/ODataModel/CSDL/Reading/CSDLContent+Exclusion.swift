extension CSDLContent {
    /// Removes the elements that the options exclude, with their descendants.
    mutating func exclude(_ options: CSDLReaderOptions) {
        let terms = options.excludesServerOnlyElements ? serverOnlyTerms : []
        var isExcluded = [Bool](repeating: false, count: elements.count)
        if !terms.isEmpty {
            for index in elements.indices { isExcluded[index] = isServerOnly(index, terms) }
        }
        if !options.readsMixedVersions { excludeOtherVersion(&isExcluded) }
        for index in elements.indices where elements[index].firstChild >= 0 { unlink(isExcluded, below: index) }
    }

    /// Removes excluded children from the list of siblings.
    private mutating func unlink(_ isExcluded: [Bool], below parent: Int) {
        var next = elements[parent].firstChild
        var last: Int?
        elements[parent].firstChild = -1
        while next >= 0 {
            let child = Int(next)
            next = elements[child].nextSibling
            guard !isExcluded[child] else { continue }
            elements[child].nextSibling = -1
            if let last {
                elements[last].nextSibling = Int32(child)
            } else {
                elements[parent].firstChild = Int32(child)
            }
            last = child
        }
    }

    // MARK: Elements that are for servers

    private static let serverOnlyNamespace = "com.sap.cloud.server.odata.sql.v1"

    /// The spellings of the term, with the namespace and with each of its aliases.
    private var serverOnlyTerms: Set<String> {
        var result: Set<String> = ["\(Self.serverOnlyNamespace).ServerOnly"]
        for index in elements.indices where elements[index].name == .include || elements[index].name == .schema {
            guard text(of: .namespace, index) == Self.serverOnlyNamespace, let alias = text(of: .alias, index) else {
                continue
            }
            result.insert("\(alias).ServerOnly")
        }
        return result
    }

    private func isServerOnly(_ index: Int, _ terms: Set<String>) -> Bool {
        guard elements[index].hasAnnotations else { return false }
        var next = elements[index].firstChild
        while next >= 0 {
            let child = Int(next)
            next = elements[child].nextSibling
            guard elements[child].name == .annotation, let term = text(of: .term, child), terms.contains(term) else {
                continue
            }
            return text(of: .bool, child) != "false"
        }
        return false
    }

    private func text(of name: CSDLName, _ element: Int) -> String? {
        let first = Int(elements[element].firstAttribute)
        let range = first..<first + Int(elements[element].attributeCount)
        return attributes[range].first { $0.name == name }.map { strings[$0.value] }
    }

    // MARK: Elements of another version

    /// Excludes elements of another version than the document's first schema: CSDL 4, or CSDL 1 to 3.
    private func excludeOtherVersion(_ isExcluded: inout [Bool]) {
        for (number, root) in roots.enumerated() {
            let end = number + 1 < roots.count ? roots[number + 1].node.index : elements.count
            let range = root.node.index..<end
            guard let first = range.first(where: { elements[$0].name == .schema }),
                let version = isV4(first)
            else { continue }
            for index in first..<end where isV4(index).map({ $0 != version }) == true { isExcluded[index] = true }
        }
    }

    /// Returns whether an element is of CSDL 4; `nil` for elements outside CSDL.
    private func isV4(_ index: Int) -> Bool? {
        let number = elements[index].namespace
        guard number >= 0 else { return nil }
        let namespace = namespaces[Int(number)]
        guard namespace.hasSuffix("/edm") else { return nil }
        return namespace.hasPrefix("http://docs.oasis-open.org/odata/")
    }
}
