import ODataModel
import TestModels
import Testing

@testable import ODataQuery

@Suite("URLs are bound to the resources that they address")
struct URLBinderTests {
    let model: EntityDataModel

    init() throws { model = try ShopModel.make() }

    func bind(_ text: String, dialect: QueryDialect = .v4) throws -> BoundURL {
        try Binder(model: model).bind(ODataURL(parsing: text, options: ParsingOptions(dialect: dialect)))
    }

    func error(_ text: String) throws -> QueryError {
        try #require(throws: QueryError.self) { _ = try bind(text) }
    }

    func key(_ text: String) throws -> EntityKey? {
        for case .key(let key) in try bind(text).resource.steps { return key }
        return nil
    }

    @Test("Keys are single, compound, aliased or segments")
    func keys() throws {
        let one = EntityKey("OrderID", 10248)
        #expect(try key("Orders(10248)") == one)
        #expect(try key("Orders(OrderID=10248)") == one)
        #expect(try key("Orders(OrderID=@k)?@k=10248") == one)
        #expect(try key("Orders/10248") == one)
        #expect(try key("Customers/ALFKI/Orders") == EntityKey("CustomerID", "ALFKI"))
        #expect(try key("Customers/42") == EntityKey("CustomerID", "42"))
        #expect(try key("Customers('O''Neil')") == EntityKey("CustomerID", "O'Neil"))
        let both = EntityKey([.init(name: "OrderID", value: 1), .init(name: "ProductID", value: 2)])
        #expect(try key("Items(ProductID=2,OrderID=1)") == both)
        #expect(try key("Items/1/2/Quantity") == both)
    }

    @Test(
        "Wrong keys are refused with the expected ones",
        arguments: [
            "Orders('x')", "Orders(ID=1)", "Items(1)", "Items(OrderID=1)", "Orders(1.5)", "Orders(null)", "Orders/x",
            "Items/1", "Orders(3000000000)",
        ])
    func wrongKeys(text: String) throws {
        let error = try error(text)
        #expect(error.message.contains("ID"), "\(error)")
        #expect(error.part == "path")
    }

    @Test("Segments are resolved to targets")
    func targets() throws {
        func check(_ text: String, _ matches: (BoundResource.Target) -> Bool, dialect: QueryDialect = .v4) throws {
            let target = try bind(text, dialect: dialect).resource.target
            #expect(matches(target), "\(text): \(target)")
        }
        try check("") { $0 == .service }
        try check("$metadata") { $0 == .metadata }
        try check("$batch") { $0 == .batch }
        try check("Orders") { if case .entities(_, let set) = $0 { set?.name == "Orders" } else { false } }
        try check("Orders(1)/Items(OrderID=1,ProductID=2)") {
            if case .entity(let shape, let set) = $0 {
                shape.name.name == "Item" && set?.name == "Items"
            } else {
                false
            }
        }
        try check("Orders(1)/Notes") { if case .entities(_, nil) = $0 { true } else { false } }
        try check("Orders(1)/Freight") { if case .property(let p, _) = $0 { p.name == "Freight" } else { false } }
        try check("Orders(1)/Address/City/$value") {
            if case .rawValue(let p?) = $0 { p.name == "City" } else { false }
        }
        try check("Products(1)/$value") { $0 == .rawValue(nil) }
        try check("Orders/$count") { if case .count = $0 { true } else { false } }
        try check("Orders(1)/Items/$count?$filter=Quantity gt 1") { if case .count = $0 { true } else { false } }
        try check("Orders(1)/Customer/$ref") {
            if case .references(let n?, _, _, false) = $0 { n.name == "Customer" } else { false }
        }
        try check(
            "Orders(1)/$links/Items", { if case .references(_, _, _, true) = $0 { true } else { false } }, dialect: .v2)
        try check("Products/Shop.OldProduct(1)") {
            if case .entity(let shape, _) = $0 { shape.name.name == "OldProduct" } else { false }
        }
        try check("Products/OldProduct") {
            if case .entities(let s, _) = $0 { s.name.name == "OldProduct" } else { false }
        }
        try check("Products/Shop.Best(Rank=1)/Name") { if case .property = $0 { true } else { false } }
        try check("Orders(1)/Shop.Discount") { if case .operation = $0 { true } else { false } }
        try check("Nearby(city='Bern')") { if case .entities(_, let s) = $0 { s?.name == "Customers" } else { false } }
        try check("Nearby(city=@c)?@c='Bern'") { if case .entities = $0 { true } else { false } }
        try check("Nearby?@city='Bern'") { if case .entities = $0 { true } else { false } }
        try check("Nearby?city='Bern'") { if case .entities = $0 { true } else { false } }
        try check("Me/Reports") { if case .entities(_, let s) = $0 { s?.name == "Employees" } else { false } }
        try check("$entity?$id=Orders(1)") { $0 == .entityByID }
        try check("Orders/$filter(Freight gt 1 and Address/City eq 'a/b')/$count") {
            if case .count = $0 { true } else { false }
        }
    }

    @Test(
        "A URL without a target is refused",
        arguments: [
            "Ordrs", "Orders(1)/Frieght", "Orders/Items", "Orders(1)/Address/$value", "Orders/$value", "Customers(1)",
            "Nearby(town='x')", "Nearby('x')", "Orders(1)/OrderID/City", "Products(1)/Shop.Order",
            "Orders(1)?$filter=true",
            "Orders(1)?$top=1", "Orders/$count?$select=OrderID", "Me(1)", "Orders()", "Orders(1)(2)", "$entity",
        ])
    func wrongPaths(text: String) throws {
        let error = try error(text)
        #expect(!error.message.isEmpty)
    }

    @Test("Only optional function parameters may be omitted")
    func optionalParameters() throws {
        for (text, names) in [
            ("Nearby(city='x')", ["city"]), ("Nearby(city='x',radius=2)", ["city", "radius"]),
            ("Nearby?@city='x'", ["city"]),
        ] {
            guard case .operation(_, let given)? = try bind(text).resource.steps.last else {
                Issue.record("\(text) is no call")
                continue
            }
            #expect(given.keys.sorted() == names)
        }
        #expect(try error("Nearby(radius=2)").kind == .unknownName)
        #expect(try error("Nearby(city='x',colour=2)").kind == .unknownName)
    }

    @Test("An unknown set is refused with the nearest name")
    func unknownSet() throws {
        let error = try error("Ordrs?$top=1")
        #expect(error.kind == .unknownName)
        #expect(error.offset == 0)
        #expect(error.suggestions.first == "Orders")
    }

    @Test(
        "An unknown segment with a dollar sign is a key or gets a suggestion",
        arguments: [
            ("Orders/$cuont", 7, "$count"), ("Orders(1)/$cuont", 10, "$count"), ("Orders(1)/$vaule", 10, "$value"),
            ("Orders(1)/$links/Items", 10, nil),
        ] as [(String, Int, String?)])
    func unknownSystemSegment(text: String, offset: Int, suggestion: String?) throws {
        let error = try error(text)
        #expect(error.offset == offset)
        #expect(error.suggestions.first == suggestion)
        #expect(try key("Customers/$a")?.parts.map(\.value) == ["$a"])
    }

    @Test("$select becomes ordinals, and paths into complex values are separate")
    func select() throws {
        let query = try #require(
            try bind("Orders?$select=OrderID,Address/City,Customer,Tax&$compute=Freight mul 2 as Tax").query)
        #expect(query.projection == .some(ordinals: [0, 19], names: ["Tax"]))
        #expect(query.nestedProjections == [19: .some(ordinals: [0], names: [])])
        let nested = try #require(try bind("Orders?$select=Address($select=Country)").query)
        #expect(nested.nestedProjections == [19: .some(ordinals: [1], names: [])])
        #expect(try bind("Orders?$select=*").query?.projection == .all)
        #expect(try error("Orders?$select=OrderID,Frieght").suggestions.first == "Freight")
    }

    @Test("$expand is resolved with its nested options")
    func expand() throws {
        let url =
            "Orders?$expand=Items($filter=Quantity gt 1;$orderby=UnitPrice desc;$top=3;$expand=Product($select=Name)),Customer/$ref"
        let query = try #require(try bind(url).query)
        #expect(query.expand.map(\.navigation.name) == ["Items", "Customer"])
        #expect(query.expand[0].query.top == 3)
        #expect(query.expand[0].query.set?.name == "Items")
        #expect(query.expand[0].query.variable.identifier == 0)
        #expect(query.expand[0].query.expand[0].query.projection == .some(ordinals: [1], names: []))
        #expect(query.expand[1].form == .references)
        #expect(try bind("Orders?$expand=*").query?.expand.count == 3)
        #expect(try bind("Employees?$expand=Manager($levels=3)").query?.expand[0].levels == 3)
        #expect(try bind("Employees?$expand=Reports($levels=max)").query?.expand[0].levels == nil)
        #expect(try bind("Orders?$expand=Address/Shop").query?.expand[0].path.count == 1)
        let deep = try #require(try bind("Orders?$expand=Items,Items/Product", dialect: .v2).query)
        #expect(deep.expand.count == 1)
        #expect(deep.expand[0].query.expand[0].navigation.name == "Product")
    }

    @Test(
        "An unsupported form of $expand is refused",
        arguments: [
            "Orders?$expand=Customer($levels=2)", "Orders?$expand=Customer,Customer($select=Country)",
            "Orders?$expand=Freight", "Orders?$expand=Custmer",
            "Orders?$expand=$value", "Orders?$expand=Items($filter=Nope eq 1)",
        ])
    func wrongExpand(text: String) throws {
        _ = try error(text)
    }

    @Test("groupby names a property by its path, and later expressions find it")
    func groupBy() throws {
        let text =
            "Orders?$apply=filter(Freight gt 1)/groupby((Customer/Country,ShipCity),aggregate(Freight with sum as Sum,$count as N))"
            + "/filter(Sum gt 10 and Customer/Country eq 'CH')/orderby(N desc)&$orderby=Customer/Country&$select=Customer/Country,Sum"
        let query = try #require(try bind(text).query)
        let shape = query.resultShape
        #expect(shape.properties.map(\.name) == ["Customer/Country", "ShipCity", "Sum", "N"])
        #expect(
            shape.properties.map(\.type) == [
                .primitive(.string), .primitive(.string), .primitive(.decimal), .primitive(.decimal),
            ])
        #expect(query.projection == .some(ordinals: [0, 2], names: []))
        guard case .path(let path)? = query.orderBy.first?.expression,
            case .property(_, let ordinal, let of)? = path.steps.first
        else {
            Issue.record("no path")
            return
        }
        #expect(path.steps.count == 1)
        #expect(ordinal == 0)
        #expect(of == shape)
    }

    @Test("compute appends to the shape, aggregate replaces it")
    func compute() throws {
        let query = try #require(
            try bind("Orders?$apply=compute(Freight mul 2 as Twice)/filter(Twice gt Freight)").query)
        #expect(query.resultShape.properties.last?.name == "Twice")
        #expect(query.resultShape.ordinal(of: "OrderID") == 0)
        let total = try #require(
            try bind("Orders?$apply=aggregate(Items/$count as N)".replacing("Items/", with: "") + "&$filter=N gt 1")
                .query)
        #expect(total.resultShape.properties.map(\.name) == ["N"])
        #expect(try bind("Orders?$apply=aggregate(Customer/Country with countdistinct as C)").query?.apply.count == 1)
    }

    @Test(
        "An undefined name that the service must define is refused",
        arguments: [
            "aggregate(Freight with Custom.median as M)", "aggregate(Budget)", "Shop.Transform()",
        ])
    func unsupportedApply(text: String) throws {
        let error = try error("Orders?$apply=" + text)
        guard case .unsupported = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(error.part == "$apply")
    }

    @Test(
        "Every transformation determines the shape of its result",
        arguments: [
            ("concat(identity,aggregate($count as N))", "N"), ("topcount(2,Freight)", "ShipCity"),
            ("bottompercent(10,Freight)", "Freight"), ("groupby((rollup(ShipCity,CustomerID)))", "ShipCity,CustomerID"),
            ("groupby((rollup($all,ShipCity)),aggregate($count as N))", "ShipCity,N"),
            ("groupby((rolluprecursive($root/Employees,Org,OrderID)),aggregate($count as N))", "OrderID,N"),
            ("groupby((rolluprecursive($root/Employees,Org,OrderID,top(1)),ShipCity))", "OrderID,ShipCity"),
            (
                "groupby((rolluprecursive($root/Employees,Org,OrderID),rolluprecursive($root/Employees,Org,Total)))",
                "Total"
            ),
            ("aggregate(Items/UnitPrice with sum as T)", "T"), ("aggregate(Items/$count as T)", "T"),
            ("aggregate(Freight with sum from ShipCity with average as A)", "A"), ("search(red)", "Freight"),
            ("groupby((ShipCity),topcount(1,Freight))", "ShipCity,Freight"),
            ("join(Items as I)/filter(I/Quantity gt 1)", "Freight"),
            ("outerjoin(Items as I,aggregate($count as N))/groupby((I/N))", "I/N"),
            ("nest(identity as X)/aggregate(X/Freight with max as M)", "M"),
            ("addnested(Items,filter(Quantity gt 1) as Big)/aggregate(Big/$count as N)", "N"),
            ("expand(Items,filter(Quantity gt 1))", "Freight"), ("groupby((Customer))/compute(1 as One)", "One"),
        ])
    func transformations(apply: String, expected: String) throws {
        let shape = try #require(try bind("Orders?$apply=" + apply).query).resultShape
        for name in expected.split(separator: ",") { #expect(shape.ordinal(of: String(name)) != nil, "\(name)") }
    }

    @Test("Aggregation removes the old properties")
    func gone() throws {
        let error = try error("Orders?$apply=aggregate(Freight with sum as Sum)&$filter=Freight gt 1")
        #expect(error.kind == .unknownName)
        #expect(error.part == "$filter")
    }
}
