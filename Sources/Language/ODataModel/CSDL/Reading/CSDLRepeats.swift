/// Finds identical elements of one parent, which tools that merge documents produce.
///
/// Operations, terms and imports may have the same name. Their meaning is compared instead, because attributes and
/// nested elements can express the same.
struct CSDLRepeats {
    /// The operations seen so far.
    var operations: Set<ODataOperation> = []
    var terms: Set<Term> = []
    var imports: Set<OperationImport> = []
    /// The elements seen so far by a hash of their content, so that each is compared with few other elements.
    private var seen: [Int: [CSDLDocument.Node]] = [:]

    /// Returns whether an equal element was passed before, and otherwise remembers the element.
    mutating func isRepeated(_ node: CSDLDocument.Node, in document: CSDLDocument) -> Bool {
        let hash = document.contentHash(node)
        if let others = seen[hash], others.contains(where: { document.isEqual($0, node) }) { return true }
        seen[hash, default: []].append(node)
        return false
    }
}

extension CSDLDocument {
    /// Returns whether two elements have the same name, attributes, text and children. The order of attributes is
    /// irrelevant (XML 1.0, 3.1), but the order of children counts.
    func isEqual(_ left: Node, _ right: Node) -> Bool {
        var waiting = [(left, right)]
        while let (left, right) = waiting.popLast() {
            let (one, other) = (elements[left.index], elements[right.index])
            guard one.name == other.name, one.namespace == other.namespace,
                one.attributeCount == other.attributeCount, areEqual(one.otherName, other.otherName),
                areEqual(one.text, other.text), haveSameAttributes(left, right)
            else { return false }
            let (children, others) = (Array(self.children(left)), Array(self.children(right)))
            guard children.count == others.count else { return false }
            waiting += zip(children, others)
        }
        return true
    }

    /// Returns a hash that is the same for equal elements.
    func contentHash(_ node: Node) -> Int {
        var hasher = Hasher()
        var waiting = [node]
        while let node = waiting.popLast() {
            hasher.combine(elements[node.index].name)
            // A sum does not depend on the order of attributes.
            var sum = 0
            for attribute in attributes(node) {
                var own = Hasher()
                own.combine(attribute.name)
                own.combine(string(attribute.value))
                sum &+= own.finalize()
            }
            hasher.combine(sum)
            waiting += children(node)
        }
        return hasher.finalize()
    }

    private func haveSameAttributes(_ left: Node, _ right: Node) -> Bool {
        let (own, others) = (attributes(left), attributes(right))
        if zip(own, others).allSatisfy(areEqual) { return true }
        // The limit bounds the quadratic comparison; no tool writes this many attributes.
        guard own.count <= 100 else { return false }
        return own.allSatisfy { attribute in others.contains { areEqual($0, attribute) } }
    }

    private func areEqual(_ left: Attribute, _ right: Attribute) -> Bool {
        left.name == right.name && left.namespace == right.namespace && areEqual(left.otherName, right.otherName)
            && areEqual(left.value, right.value)
    }

    /// Compares texts by content, because equal descriptions and targets can have different numbers.
    private func areEqual(_ left: Text, _ right: Text) -> Bool {
        left == right || (left >= 0 && right >= 0 && Array(string(left).utf8) == Array(string(right).utf8))
    }
}

extension CSDLDocument {
    /// Returns warnings sorted by document and position.
    func ordered(_ warnings: [CSDLWarning]) -> [CSDLWarning] {
        var numbers: [String?: Int] = [:]
        for (number, root) in roots.enumerated() where numbers[root.source] == nil { numbers[root.source] = number }
        func place(_ warning: CSDLWarning) -> (Int, Int, Int) {
            (numbers[warning.source] ?? roots.count, warning.line, warning.column)
        }
        return warnings.enumerated().sorted { left, right in
            let (one, other) = (place(left.element), place(right.element))
            return one == other ? left.offset < right.offset : one < other
        }.map(\.element)
    }
}
