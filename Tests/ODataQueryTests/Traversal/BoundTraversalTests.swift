import ODataModel
import TestModels
import Testing

@testable import ODataQuery

@Suite("Traversal of the bound tree")
struct BoundTraversalTests {
    private struct Stop: Error {}

    private static let parts = Reflection<any BoundTree>(
        node: { $0 as? any BoundTree },
        holders: [
            "BoundExpression", "BoundPath", "BoundStep", "BoundAggregate", "BoundAggregate.Members",
            "BoundAggregate.From", "HierarchyReference", "BoundTransformation", "BoundNest", "BoundOrder",
            "BoundCompute", "BoundExpand", "BoundQuery", "BoundSegment", "BoundSelection", "BoundSelection.Source",
            "BoundSelection.Grouping", "BoundSelection.Column", "BoundSelection.Combination",
        ])
    /// The nodes, including those within parts that are not nodes.
    private static let nodes = Reflection<any BoundNodeConvertible>(
        node: { $0 as? any BoundNodeConvertible }, holders: [])

    private static func all(_ url: BoundURL) -> [any BoundTree] { [url] + parts.all(below: url) }

    private static func kind(of part: any BoundTree) -> String {
        if let node = (part as? any BoundNodeConvertible)?.node { return BoundKind(node).rawValue }
        if let segment = part as? BoundSegment { return "segment " + BoundSegmentKind(segment).rawValue }
        return "\(type(of: part))"
    }

    @Test("Every kind of node has a sample, and every place for a node is filled in one")
    func complete() throws {
        let samples = Self.all(try BoundSamples.url())
        let kinds =
            BoundKind.allCases.map(\.rawValue) + BoundSegmentKind.allCases.map { "segment " + $0.rawValue }
            + ["BoundURL", "BoundResource", "NodePath", "BoundSubquery"]
        #expect(Set(samples.map(Self.kind)) == Set(kinds))
        var filled: Set<String> = []
        var empty: Set<String> = []
        for sample in samples {
            let fields = Self.parts.fields(below: sample, path: Self.kind(of: sample))
            filled.formUnion(fields.filled)
            empty.formUnion(fields.empty)
        }
        #expect(filled.count > 20)
        #expect(empty.subtracting(filled).sorted() == [])
    }

    @Test(
        "Children are the nearest nodes found by reflection, and a map visits each once in order",
        arguments: [
            nil, "Orders?$filter=Items/any(i:i/Quantity gt 1 and i/Product/Price lt Freight)&$expand=Items($top=1)",
            "Orders?$apply=groupby((rolluprecursive($root/Employees,Org,OrderID)),aggregate($count as N))",
            "Orders?$apply=outerjoin(Items as I,aggregate($count as N))/groupby((I/N))",
            "Orders?$apply=aggregate(Freight with sum from ShipCity with average as A)",
        ])
    func agreement(text: String?) throws {
        let url = try text.map { try Binder(model: ShopModel.make()).bind(ODataURL(parsing: $0)) }
        for part in Self.all(try url ?? BoundSamples.url()) { try check(part) }
    }

    private func check<Part: BoundTree>(_ part: Part) throws {
        let children = part.children
        let reflected = Self.nodes.nearest(below: part).map(\.node)
        #expect(children.map(Self.text).sorted() == reflected.map(Self.text).sorted(), "\(part)")
        var visited: [BoundNode] = []
        let same = part.mapChildren { child in
            visited.append(child)
            return child
        }
        #expect(visited == children, "\(part)")
        #expect("\(same)" == "\(part)")
        for index in children.indices {
            var position = -1
            let changed = part.mapChildren { child in
                position += 1
                return position == index ? Self.other(child) : child
            }
            var expected = children
            expected[index] = Self.other(children[index])
            #expect(changed.children == expected, "\(part)")
        }
        guard !children.isEmpty else { return }
        #expect(throws: Stop.self) { try part.mapChildren { _ throws(Stop) in throw Stop() } }
        let unchanged = part.mapChildren { child -> BoundNode in
            if case .query = child { .step(.dynamic("x")) } else { .query(Self.query) }
        }
        #expect("\(unchanged)" == "\(part)", "a node of another kind changes nothing")
    }

    private static let query = BoundQuery(
        shape: otherShape, set: nil, variable: RangeVariable(name: "x", identifier: 9, shape: nil, type: .untyped("x")))
    private static let otherShape = TypeShape(dynamic: QualifiedName("Other", "Shape"), properties: [])

    /// Returns the text of a node; a condition is written like its expression.
    private static func text(_ node: BoundNode) -> String {
        if case .condition(let expression, _) = node { return "\(BoundNode.expression(expression))" }
        return "\(node)"
    }

    /// Returns another node of the same kind.
    private static func other(_ node: BoundNode) -> BoundNode {
        let variable = query.variable
        let path = BoundPath(variable: variable, steps: [], type: variable.type)
        switch node {
        case .expression: return .expression(.path(path))
        case .condition(_, let variable): return .condition(.path(path), variable)
        case .path: return .path(path)
        case .step: return .step(.annotation("x"))
        case .aggregate: return .aggregate(BoundAggregate(nil, method: .count, as: "x", type: variable.type))
        case .hierarchy(var hierarchy):
            hierarchy.qualifier = "x"
            return .hierarchy(hierarchy)
        case .transformation: return .transformation(.identity(shape: otherShape))
        case .expand(var item):
            item.levels = 9
            return .expand(item)
        case .query: return .query(query)
        case .selection(var selection):
            selection.isDistinct.toggle()
            return .selection(selection)
        }
    }

    @Test("The entity sets of a tree include those of paths, conditions and nested queries")
    func entitySets() throws {
        func sets(_ text: String) throws -> [String] {
            try Binder(model: ShopModel.make()).bind(ODataURL(parsing: text)).entitySets.sorted()
        }
        #expect(try sets("Orders?$top=1") == ["Orders"])
        #expect(try sets("Orders?$filter=Customer/Country eq 'x'") == ["Customers", "Orders"])
        #expect(try sets("Orders?$filter=Items/any(i:i/Product/Price gt 1)") == ["Items", "Orders", "Products"])
        #expect(try sets("Orders?$expand=Items($filter=Product/Price gt 1)") == ["Items", "Orders", "Products"])
        #expect(try sets("Orders?$filter=$root/Employees/$filter(ID eq 1)/$count gt 1") == ["Employees", "Orders"])
        #expect(try sets("Orders?$apply=join(Items as I)/filter(I/Quantity gt 1)").contains("Items"))
    }

    @Test("The entity sets of a dynamic query include those of sources, paths and sub-queries")
    func entitySetsOfSelection() throws {
        let inner = Selection.from("Customers", as: "c").select("c.CustomerID")
        let selection = Selection.from("Orders", as: "o").where(.attribute("o.CustomerID", .in, .selection(inner)))
            .union(Selection.from("Employees", as: "e").select("e.ID")).select("o.OrderID")
        let bound = try Binder(model: ShopModel.make()).bind(selection)
        #expect(bound.allEntitySets == ["Orders", "Customers", "Employees"])
    }

    @Test("Nested expressions are classified as opaque, function calls or constant for all rows")
    func questions() throws {
        func filter(_ text: String) throws -> BoundExpression {
            let url = try ODataURL(parsing: "Orders?$filter=\(text)")
            return try #require(try Binder(model: ShopModel.make()).bind(url).query?.filter)
        }
        #expect(try filter("not (case(Items/any(i:i/Order/OrderDate lt now()):true,true:false))").calls(.now))
        #expect(try !filter("OrderDate lt maxdatetime()").calls(.now))
        #expect(try filter("Items/any(i:i/Order/Items/aggregate(Quantity with sum) gt 1)").isOpaque)
        #expect(try !filter("Items/any(i:i/Quantity gt 1)").isOpaque)
        #expect(try filter("maxdatetime() gt now()").isSameForAllRows)
        #expect(try !filter("Items/any()").isSameForAllRows)
    }
}
