import ODataModel
import ODataQuery
import Testing

@Suite("Transformations over rows in memory")
struct ApplyEvaluationTests {
    let data: ShopData

    init() throws { data = try ShopData() }

    /// Returns the rows as text, with `name=value` for each property.
    private func rows(_ apply: String, of set: String = "Orders", functions: FunctionRegistry = FunctionRegistry())
        throws -> [String]
    {
        try data.page("\(set)?$apply=" + apply, functions: functions).rows.map { row in
            row.properties.map { "\($0.name)=\($0.value.lexicalText ?? "-")" }.joined(separator: ",")
        }
    }

    @Test(
        "Each transformation gives the result of the standard",
        arguments: [
            (
                "aggregate(Freight with sum as S,Freight with average as A,$count as N)",
                ["S=35.75,A=11.91666666666666666666666667,N=4"]
            ),
            (
                "aggregate(Freight with min as L,Freight with max as G,ShipCity with countdistinct as C)",
                ["L=5,G=20.25,C=3"]
            ),
            ("filter(OrderID gt 9)/aggregate(Freight with sum as S,$count as N)", ["S=-,N=0"]),
            (
                "groupby((ShipCity),aggregate(Pieces with sum as P))",
                ["ShipCity=Bern,P=5", "ShipCity=Basel,P=7", "ShipCity=Zürich,P=0"]
            ),
            ("groupby((Customer/Country))", ["Customer/Country=CH", "Customer/Country=DE", "Customer/Country=-"]),
            ("groupby((Customer),aggregate($count as N))/aggregate(N with max as M)", ["M=2"]),
            (
                "groupby((rollup($all,Customer/Country,ShipCity)),aggregate($count as N))/filter(N gt 1)",
                ["Customer/Country=CH,N=2", "N=4"]
            ),
            ("groupby((rollup(Customer/Country,ShipCity)))/aggregate($count as N)", ["N=7"]),
            ("aggregate(Items/Quantity with sum as Q,Items/$count as N)", ["Q=16,N=4"]),
            ("aggregate(Items/Product/Name with countdistinct as P)", ["P=3"]),
            ("aggregate(Items/Product with countdistinct as P)", ["P=3"]),
            ("aggregate(Freight with sum from Customer/Country with max as M)", ["M=30.75"]),
            (
                "filter(Freight mul 2 gt $these/aggregate(Freight with sum))/aggregate(OrderID with max as I)", ["I=2"]
            ),
            ("topcount(1,Freight)/aggregate(OrderID with max as I)", ["I=2"]),
            ("bottomcount(2,Pieces)/aggregate(OrderID with sum as I)", ["I=7"]),
            ("topsum(25,Freight)/aggregate($count as N)", ["N=2"]),
            ("toppercent(50,Freight)/aggregate(OrderID with max as I,$count as N)", ["I=2,N=1"]),
            ("bottomsum(1,Pieces)/aggregate($count as N)", ["N=2"]),
            ("bottompercent(100,Pieces)/aggregate($count as N)", ["N=4"]),
            ("orderby(Freight desc)/top(2)/skip(1)/aggregate(OrderID with max as I)", ["I=1"]),
            ("identity/aggregate($count as N)", ["N=4"]),
            ("search(zürich)/aggregate($count as N)", ["N=1"]),
            ("compute(Pieces mul 2 as D)/aggregate(D with sum as S)", ["S=24"]),
            ("concat(aggregate($count as N),groupby((ShipCity))/top(1))", ["N=4", "ShipCity=Bern"]),
            ("concat(groupby((ShipCity))/top(1),aggregate($count as N))/filter(isdefined(N))", ["N=4"]),
            ("groupby((ShipCity),topcount(1,OrderID))/aggregate(OrderID with sum as I)", ["I=9"]),
            ("join(Items as I)/aggregate($count as N,I/Quantity with sum as Q)", ["N=4,Q=16"]),
            ("outerjoin(Items as I)/aggregate($count as N)", ["N=5"]),
            (
                "join(Items as I,filter(Quantity gt 3))/groupby((I/Product/Name),aggregate($count as N))",
                ["I/Product/Name=Tea,N=2"]
            ),
            (
                "outerjoin(Items as I,aggregate($count as N))/groupby((I/N),aggregate($count as C))",
                ["I/N=2,C=1", "I/N=1,C=2", "I/N=0,C=1"]
            ),
            (
                "nest(filter(Pieces gt 2) as Big,identity as Every)/aggregate(Big/$count as B,Every/$count as E)",
                ["B=2,E=4"]
            ),
            ("addnested(Items,filter(Quantity gt 3) as Big)/aggregate(Big/$count as B)", ["B=2"]),
            ("expand(Items,filter(Quantity gt 3))/aggregate(Items/$count as N)", ["N=2"]),
        ])
    func transformations(apply: String, expected: [String]) throws {
        #expect(try rows(apply) == expected, "\(apply)")
    }

    @Test("An app's own aggregation methods and custom aggregates are used by their names")
    func registered() throws {
        let functions = FunctionRegistry(
            aggregate: [AggregateFunction("App.last", returns: .primitive(.int32)) { $0.last ?? .null }],
            customAggregates: [
                "Volume": AggregateItem(.expression(.path([.name("Pieces")]), with: "sum"), as: "Volume")
            ])
        #expect(try rows("aggregate(OrderID with App.last as L,Volume)", functions: functions) == ["L=4,Volume=12"])
        #expect(
            try rows("groupby((ShipCity),aggregate(Volume as V))/top(1)", functions: functions) == ["ShipCity=Bern,V=5"]
        )
    }

    @Test(
        "Hierarchies are followed upwards, downwards and in order",
        arguments: [
            ("descendants($root/Employees,Org,ID,filter(Name eq 'Bob'))", ["Di"]),
            ("descendants($root/Employees,Org,ID,filter(Name eq 'Ann'),1)", ["Bob", "Cy"]),
            ("descendants($root/Employees,Org,ID,filter(Name eq 'Bob'),keep start)", ["Bob", "Di"]),
            ("ancestors($root/Employees,Org,ID,filter(Name eq 'Di'))", ["Ann", "Bob"]),
            ("traverse($root/Employees,Org,ID,preorder,Name desc)", ["Ann", "Cy", "Bob", "Di"]),
            ("traverse($root/Employees,Org,ID,postorder)", ["Di", "Bob", "Cy", "Ann"]),
        ])
    func hierarchies(apply: String, expected: [String]) throws {
        #expect(
            try data.page("Employees?$apply=" + apply).rows.map { $0.property("Name") } == expected.map { .string($0) })
    }

    private static let staff = "HierarchyNodes=$root/Employees,HierarchyQualifier='Org'"

    @Test(
        "5.5.2.1 Functions test the position of a node",
        arguments: [
            ("isnode(\(staff),Node=ID)", "1 2 3 4"), ("isnode(\(staff),Node=ID add 2)", "1 2"),
            ("isroot(\(staff),Node=ID)", "1"), ("isleaf(\(staff),Node=ID)", "3 4"), ("isroot(\(staff),Node=9)", ""),
            ("isleaf(\(staff),Node=9)", ""), ("isdescendant(\(staff),Node=ID,Ancestor=1)", "2 3 4"),
            ("isdescendant(\(staff),Node=ID,Ancestor=1,MaxDistance=1)", "2 3"),
            ("isdescendant(\(staff),Node=ID,Ancestor=2,IncludeSelf=true)", "2 4"),
            ("isancestor(\(staff),Node=ID,Descendant=4)", "1 2"),
            ("isancestor(\(staff),Node=ID,Descendant=4,MaxDistance=1,IncludeSelf=true)", "2 4"),
            ("issibling(\(staff),Node=ID,Other=2)", "3"), ("issibling(\(staff),Node=ID,Other=1)", ""),
            ("isnode(\(staff),Node=Manager/ID)", "2 3 4"), ("isnode(\(staff),Node=null)", ""),
            ("issibling(HierarchyQualifier='Org',Other=@o,Node=ID,HierarchyNodes=@n)&@n=$root/Employees&@o=3", "2"),
        ])
    func functions(call: String, expected: String) throws {
        for namespace in ["Aggregation", "Org.OData.Aggregation.V1"] {
            let page = try data.page("Employees?$filter=\(namespace).\(call)")
            #expect(
                page.rows.map { $0.property("ID")?.lexicalText ?? "" }.joined(separator: " ") == expected, "\(call)")
        }
    }

    @Test("5.5.2.1 A test of an unknown node is null")
    func unknownNode() throws {
        let test = "Aggregation.isdescendant(\(Self.staff),Node=Manager/ID,Ancestor=1,IncludeSelf=true)"
        #expect(try data.page("Employees?$filter=not \(test)").rows.isEmpty)
        #expect(try data.page("Employees?$filter=\(test) eq null").rows.count == 1)
    }

    @Test("5.5.2.1 Roots are siblings, and a node outside the collection has no children")
    func parts() throws {
        let nodes = "HierarchyNodes=$root/Employees/$filter(ID ne 1),HierarchyQualifier='Org'"
        for (call, expected) in [
            ("isroot(\(nodes),Node=ID)", ["2", "3"]), ("issibling(\(nodes),Node=ID,Other=2)", ["3"]),
            ("isnode(\(nodes),Node=ID)", ["2", "3", "4"]),
        ] {
            let page = try data.page("Employees?$filter=Aggregation.\(call)")
            #expect(page.rows.map { $0.property("ID")?.lexicalText } == expected, "\(call)")
        }
    }

    @Test(
        "5.5.2.1 A wrong parameter of a hierarchy function is refused with its place",
        arguments: [
            ("isroot(\(staff))", "needs the parameter Node"), ("isroot(\(staff),Nod=ID)", "no parameter Nod"),
            ("isroot(\(staff),Node=Name)", "known by a value of type"),
            ("isroot(HierarchyNodes=$root/Employees,HierarchyQualifier='Or',Node=ID)", "no recursive hierarchy Or"),
            ("isroot(HierarchyNodes=Reports,HierarchyQualifier='Org',Node=ID)", "after $root/"),
            ("isdescendant(\(staff),Node=ID,Ancestor=1,MaxDistance=0)", "1 or more"),
            ("isdescendant(\(staff),Node=ID,Ancestor=1,MaxDistance=ID)", "whole number"),
            ("isdescendant(\(staff),Node=ID,Ancestor=1,IncludeSelf=1)", "true or false"),
            ("issibling(\(staff),Node=ID)", "needs the parameter Other"),
        ])
    func wrongParameters(call: String, message: String) throws {
        let error = try #require(throws: QueryError.self) {
            _ = try data.page("Employees?$filter=Aggregation.\(call)")
        }
        #expect(error.message.contains(message), "\(error)")
        #expect((error.offset ?? 0) > 0)
    }

    @Test("6.1 A row that leads to several nodes is kept once for each node")
    func severalNodes() throws {
        for (apply, expected) in [
            ("descendants($root/Employees,Org,Reports/ID,filter(ID eq 1),keep start)", ["1", "2"]),
            ("ancestors($root/Employees,Org,Reports/ID,filter(ID eq 2))", ["1"]),
        ] {
            let page = try data.page("Employees?$apply=\(apply)")
            #expect(page.rows.map { $0.property("ID")?.lexicalText } == expected, "\(apply)")
        }
    }

    @Test("6.2.2 A row that leads to several nodes is visited once for each node")
    func traversedNodes() throws {
        let page = try data.page("Employees?$apply=traverse($root/Employees,Org,Reports/ID,preorder)")
        #expect(page.rows.map { $0.property("ID")?.lexicalText } == ["1", "2", "1"])
        #expect(
            page.rows.map { row in row.expanded["Reports"]?.rows.map { $0.property("Name")?.lexicalText } } == [
                ["Bob"], ["Di"], ["Cy"],
            ])
    }

    @Test("6.3 rolluprecursive counts a row once for each node")
    func groupedNodes() throws {
        let page = try data.page(
            "Employees?$apply=groupby((rolluprecursive($root/Employees,Org,Reports/ID)),aggregate($count as N))")
        #expect(page.rows.map { $0.property("N")?.lexicalText } == ["2", "2", "1", "1"])
        #expect(page.rows[0].expanded["Reports"]?.rows.map { $0.property("Name")?.lexicalText } == ["Ann"])
    }

    @Test(
        arguments: [
            ("concat(identity,identity)", 40), ("concat(identity,filter(OrderID gt 0))", 40),
            ("nest(identity as A%d,identity as B%d)", 40), ("nest(identity as A%d)", 3000),
        ])
    func `a chain of transformations that multiply rows is refused before it takes the memory`(
        step: String, count: Int
    ) {
        func chain(_ count: Int) -> String {
            (0..<count).map { step.replacing("%d", with: "\($0)") }.joined(separator: "/")
        }
        #expect(throws: EvaluationError.self) { try data.page("Orders?$apply=\(chain(count))") }
        #expect(throws: Never.self) { try data.page("Orders?$apply=\(chain(3))") }
    }
}
