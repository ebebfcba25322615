import Testing

@testable import ODataQuery

@Suite("Traversal of the syntax tree")
struct SyntaxTraversalTests {
    private struct Stop: Error {}

    private static let holders = [
        "Expression", "Expression.NamedArgument", "PathStep", "QueryOptions", "OrderItem", "ComputeItem", "SelectItem",
        "ExpandItem", "Transformation", "Transformation.NestItem", "AggregateItem", "GroupItem", "PathSegment",
    ]
    private static let nodes = Reflection<any SyntaxNode>(node: { $0 as? any SyntaxNode }, holders: holders)
    private static let expressions = Reflection<CommonExpression>(node: { $0 as? CommonExpression }, holders: holders)

    /// Returns all nodes of a URL, including the URL itself.
    private static func all(_ url: ODataURL) -> [any SyntaxNode] { [url] + nodes.all(below: url) }

    @Test("Every kind of node has a sample, and every place for an expression is filled in one")
    func complete() {
        let samples = Self.all(SyntaxSamples.url())
        #expect(Set(samples.compactMap { SyntaxKind($0) }) == Set(SyntaxKind.allCases))
        #expect(samples.allSatisfy { SyntaxKind($0) != nil })
        var filled: Set<String> = []
        var empty: Set<String> = []
        for sample in samples {
            let path = SyntaxKind(sample)?.rawValue ?? ""
            let fields = Self.nodes.fields(below: sample, path: path)
            filled.formUnion(fields.filled)
            empty.formUnion(fields.empty)
        }
        #expect(filled.count > 20)
        #expect(empty.subtracting(filled).sorted() == [])
    }

    @Test("Children are the nearest expressions found by reflection, and a map visits each once in order")
    func agreement() throws {
        var random = RandomQuery(seed: 45)
        for url in [SyntaxSamples.url()] + (0..<200).map({ _ in random.url() }) {
            for node in Self.all(url) { try check(node) }
        }
    }

    private static func dumped(_ value: some Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }

    private func check<Node: SyntaxNode>(_ node: Node) throws {
        let children = node.children
        let reflected = Self.expressions.nearest(below: node)
        #expect(children.map { "\($0)" }.sorted() == reflected.map { "\($0)" }.sorted(), "\(node)")
        var visited: [CommonExpression] = []
        let same = node.mapChildren { child in
            visited.append(child)
            return child
        }
        #expect(visited == children, "\(node)")
        // Equality ignores the offsets.
        #expect(same == node && Self.dumped(same) == Self.dumped(node), "\(node)")
        for index in children.indices {
            var position = -1
            let changed = node.mapChildren { child in
                position += 1
                return position == index ? .alias("other") : child
            }
            var expected = children
            expected[index] = .alias("other")
            #expect(changed.children == expected, "\(node)")
        }
        guard !children.isEmpty else { return }
        #expect(throws: Stop.self) { try node.mapChildren { _ throws(Stop) in throw Stop() } }
    }

    @Test("Descendants are all nested expressions, outer ones first")
    func descendants() throws {
        let url = try ODataURL(
            parsing: "Orders?$filter=not (A eq @a)&$orderby=case(B eq @b:1,true:2)&$apply=filter(C in (@c,1))")
        let aliases = url.descendants.compactMap { if case .alias(let name) = $0 { name.text } else { nil } }
        #expect(aliases == ["a", "b", "c"])
        guard let filter = url.options.filter else { throw Stop() }
        #expect(filter.descendants.count == 3)
    }

    @Test("A replaced expression at any depth is not searched again")
    func replacement() throws {
        let url = try ODataURL(
            parsing: "Orders?$filter=A eq @a&$expand=Items($orderby=B add @a;$compute=@a mul 2 as X)")
        let replaced = url.mapDescendants { expression in
            guard case .alias = expression else { return nil }
            return .unary(.negate, .alias("a"))
        }
        let expected = try ODataURL(
            parsing: "Orders?$filter=A eq -@a&$expand=Items($orderby=B add -@a;$compute=-@a mul 2 as X)")
        #expect(replaced == expected)
    }

    @Test("A search expression has its operands as children")
    func search() {
        let search = SearchExpression.and(.or(.word("a"), .phrase("b")), .not(.word("c")))
        #expect(search.children == [.or(.word("a"), .phrase("b")), .not(.word("c"))])
        #expect(search.children.map(\.children) == [[.word("a"), .phrase("b")], [.word("c")]])
        func visit(_ search: SearchExpression) {
            var visited: [SearchExpression] = []
            let same = search.mapChildren {
                visited.append($0)
                return $0
            }
            #expect(same == search && visited == search.children)
            search.children.forEach(visit)
        }
        visit(search)
    }
}
