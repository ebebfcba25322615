import ODataModel
import ODataQuery
import Testing

@Suite("Queries over rows in memory")
struct EvaluatorTests {
    let data: ShopData

    init() throws { data = try ShopData() }

    /// Returns the ids of the orders that satisfy a condition.
    private func orders(_ condition: String, functions: FunctionRegistry = FunctionRegistry()) throws -> [Int64] {
        try data.page("Orders?$filter=" + condition.addingURLEncoding, functions: functions).rows.map {
            if case .integer(let id)? = $0.property("OrderID") { id } else { -1 }
        }
    }

    @Test(
        "Conditions with nulls and NaN follow the standard",
        arguments: [
            ("Freight gt 10", [1, 2]), ("Freight eq null", [3]), ("Freight ne null", [1, 2, 4]),
            ("not (Freight gt 10)", [3, 4]),
            ("Freight lt 10 or Freight ge 20", [2, 4]), ("Freight add 1 gt 11", [1, 2]),
            ("null le Total and OrderID eq 1", [1]),
            ("Paid", [1]), ("not Paid", [2]), ("Paid eq null", [3, 4]), ("Weight eq Weight", [1, 3, 4]),
            ("Weight ne 1", [1, 2, 3, 4]),
            ("Weight gt 0 or Weight le 0", [1]), ("OrderID in (1,4,9)", [1, 4]), ("ShipCity in Tags", []),
            ("'red' in Tags", [1]),
            ("Pieces div 2.0 eq 1.5", [1]), ("Pieces div -2.0 eq -1.5", [1]), ("-Pieces div 2.0 eq -1.5", [1]),
            ("Pieces divby 2.0 eq 1.5", [1]), ("3 div 2.0 mul Pieces eq 4.5", [1]), ("Pieces mod 2.0 eq 1.0", [1, 2]),
            ("4.50 div Pieces eq 1.5", [1]), ("Pieces mod 2 eq 1", [1, 2]), ("Pieces div 2 eq 1", [1, 4]),
            ("Pieces divby 2 eq 1.5", [1]),
            ("7 div Pieces eq null", [3]), ("Style has Shop.Pattern'Red'", [1]), ("Pieces sub 5 lt -2", [3, 4]),
            ("-Pieces eq -7", [2]),
            ("startswith(ShipCity,'B') and endswith(ShipCity,'n')", [1, 4]), ("contains(tolower(ShipCity),'ür')", [3]),
            ("toupper(ShipCity) eq 'ZÜRICH'", [3]), ("length(ShipCity) eq 6", [3]), ("indexof(ShipCity,'s') eq 2", [2]),
            ("substring(ShipCity,1,2) eq 'er'", [1, 4]), ("concat(ShipCity,'!') eq 'Bern!'", [1, 4]),
            ("matchesPattern(ShipCity,'^B.*l$')", [2]),
            ("trim(concat(' ',ShipCity)) eq 'Basel'", [2]), ("round(Freight) eq 11", [1]),
            ("floor(Freight) eq 20 or ceiling(Freight) eq 11", [1, 2]),
            ("year(OrderDate) eq 2024 and month(OrderDate) eq 2 and day(OrderDate) eq 29", [1]),
            ("hour(OrderDate) eq 23 and minute(OrderDate) eq 30", [1]),
            ("years(OrderDate) eq 2024 and months(OrderDate) eq 2 and days(OrderDate) eq 29", [1]),
            ("hours(OrderDate) eq 23 and minutes(OrderDate) eq 30 and seconds(OrderDate) eq 15", [1]),
            ("second(OrderDate) eq 15 and fractionalseconds(OrderDate) eq 0.25", [1]),
            ("totaloffsetminutes(OrderDate) eq 120", [1]),
            ("date(OrderDate) eq 2024-02-29 and time(OrderDate) eq 23:30:15.25", [1]),
            ("totalseconds(Took) eq 90", [1]),
            ("OrderDate add duration'PT30M' eq 2024-03-01T00:00:15.25+02:00", [1]),
            ("Took mul 2 eq duration'PT3M'", [1]),
            ("OrderDate sub OrderDate eq duration'PT0S' and OrderDate ne null", [1]),
            ("now() gt mindatetime()", [1, 2, 3, 4]),
            ("Address/City eq 'Bern'", [1]), ("Address eq null", [2, 3, 4]),
            ("Address/Shop/Country eq 'CH'", [1]),
            ("Customer/Country eq 'CH'", [1, 2]), ("Customer eq null", [4]), ("Customer/Orders/$count gt 1", [1, 2]),
            ("Items/any()", [1, 2, 3]), ("Items/any(i:i/Quantity gt 3)", [1, 2]),
            ("Items/all(i:i/Quantity gt 3)", [2, 4]),
            ("Items/any(i:i/Product/Name eq 'Cup' and i/Order/OrderID eq $it/OrderID)", [1]),
            ("Tags/any(t:t eq 'red')", [1]),
            ("Items/$count($filter=UnitPrice gt 2) eq 2", [1]), ("Items/$filter(Quantity gt 3)/$count eq 1", [1, 2]),
            ("Items(OrderID=1,ProductID=2)/Quantity eq 1", [1]), ("$root/Orders(2)/Freight gt Freight", [1, 4]),
            ("$root/Me/Name eq ShipCity", []),
            ("Items/aggregate(Quantity with sum) gt 4", [1, 2]), ("Stops/any(s:s/City eq $it/ShipCity)", [1]),
            ("Tags eq ['red','blue']", [1]), ("hassubset(Tags,['blue'])", [1]),
            ("hassubsequence(Tags,['blue','red'])", []),
            ("concat(Tags,['x']) eq ['red','blue','x']", [1]), ("length(Tags) eq 2", [1]),
            ("indexof(Tags,['blue']) eq 1", [1]),
            ("cast(Freight,Edm.Int32) eq 10", [1]), ("cast(OrderID,Edm.String) eq '2'", [2]),
            ("cast(ShipCity,Edm.Int32) eq null", [1, 2, 3, 4]),
            ("isof(Customer,Shop.Customer)", [1, 2, 3]), ("isof(Freight,Edm.Decimal)", [1, 2, 4]),
            ("case(Pieces gt 5:'many',true:'few') eq 'many'", [2]),
            ("geo.distance(Where,geography'SRID=4326;Point(7.44 46.95)') lt 1000", [1]),
            ("Freight/@Core.Unit eq 'EUR' and OrderID eq 1", [1]),
            ("geo.intersects(Where,geography'SRID=4326;Polygon((7.5 47.5,7.7 47.5,7.7 47.7,7.5 47.7,7.5 47.5))')", [2]),
            ("Items/any(i:isof(i/Product,Shop.OldProduct))", [3]),
            ("Items/any(i:i/Product/Shop.OldProduct/Ended ne null)", [3]),
            ("Total add 0 eq 9223372036854775807", [3]), ("[Pieces,1] eq [3,1]", [1]),
            ("isdefined(Freight)", [1, 2, 3, 4]),
        ] as [(String, [Int64])])
    func conditions(condition: String, expected: [Int64]) throws {
        #expect(try orders(condition) == expected, "\(condition)")
    }

    @Test(
        "An overflow is an error and never wraps",
        arguments: [
            "Total add 1 gt 0", "Total mul 2 gt 0",
            "-(Total sub 9223372036854775807 sub 9223372036854775807 sub 2) gt 0",
            "Freight mul 99999999999999999999999999999999999999 gt 0", "matchesPattern(ShipCity,'(')",
        ])
    func failures(condition: String) {
        #expect(throws: EvaluationError.self, "\(condition)") { try orders(condition) }
    }

    @Test("Order is stable, null first and NaN last; $skip, $top and $count follow")
    func order() throws {
        func ids(_ options: String) throws -> [ODataValue?] {
            try data.page("Orders?" + options).rows.map { $0.property("OrderID") }
        }
        #expect(try ids("$orderby=Freight") == [3, 4, 1, 2])
        #expect(try ids("$orderby=Freight%20desc") == [2, 1, 4, 3])
        #expect(try ids("$orderby=Weight") == [3, 4, 1, 2])
        #expect(try ids("$orderby=ShipCity,OrderID%20desc") == [2, 4, 1, 3])
        #expect(try ids("$orderby=Items/$count%20desc,Customer/Country") == [1, 2, 3, 4])
        let page = try data.page(
            "Orders?$orderby=OrderID&$skip=1&$top=2&$count=true&$filter=Pieces%20ge%200&$select=OrderID")
        #expect(
            page.rows.map(\.properties) == [[.init(name: "OrderID", value: 2)], [.init(name: "OrderID", value: 3)]])
        #expect(page.count == 4)
    }

    @Test("$expand runs its own query for each row, and $it is the row of the request")
    func expand() throws {
        let page = try data.page(
            "Orders?$expand=Items($filter=Quantity%20gt%20$it/Pieces;$select=ProductID;$count=true),Customer&$filter=OrderID%20le%202"
        )
        #expect(page.rows[0].expanded["Items"]?.rows.map { $0.property("ProductID") } == [1])
        #expect(page.rows[1].expanded["Items"]?.count == 1)
        #expect(page.rows[1].expanded["Customer"]?.rows.first?.property("Country") == "CH")
        let people = try data.page("Employees(1)?$expand=Reports($levels=max)")
        let reports = try #require(people.rows.first?.expanded["Reports"]?.rows)
        #expect(reports.map { $0.property("Name") } == ["Bob", "Cy"])
        #expect(reports[0].expanded["Reports"]?.rows.map { $0.property("Name") } == ["Di"])
        #expect(reports[1].expanded["Reports"]?.rows.isEmpty == true)
        let one = try data.page("Employees(1)?$expand=Reports($levels=1)")
        #expect(one.rows[0].expanded["Reports"]?.rows[0].expanded.isEmpty == true)
    }

    @Test("A cast at the end of $expand keeps only the derived entities")
    func expandDerived() throws {
        let rows = try data.page("Items?$expand=Product/Shop.OldProduct").rows
        #expect(rows.map { $0.expanded["Product"]?.rows.count } == [0, 0, 0, 1])
    }

    @Test("Options nested in $select apply to the members of a collection")
    func selectMembers() throws {
        let page = try data.page(
            "Orders(1)?$select=Tags($filter=contains($this,'e');$orderby=$this;$top=1),Stops($filter=City%20eq%20'Bern')"
        )
        let properties = try #require(page.rows.first?.properties)
        #expect(properties.first == .init(name: "Tags", value: ["blue"]))
        guard case .collection(let stops)? = properties.last?.value else {
            Issue.record("no stops")
            return
        }
        #expect(stops.count == 1)
    }

    @Test("$levels=max ends at a circle")
    func circle() throws {
        let shape = try #require(data.model.shape(ofSet: "Employees"))
        var first = ODataEntity(shape: shape, ["ID": 1])
        first.related["Manager"] = .one(ODataEntity(shape: shape, ["ID": 1]))
        let query = try Binder(model: data.model).bindQuery(
            QueryOptions(parsing: "$expand=Manager($levels=max)"), shape: shape, set: nil)
        let evaluator = Evaluator(model: data.model, source: data, now: ODataDateTimeOffset(seconds: 0))
        let own = try evaluator.evaluate(query, over: [first]).rows[0]
        #expect(own.expanded["Manager"]?.rows.count == 1)
        #expect(own.expanded["Manager"]?.rows[0].expanded["Manager"]?.rows.isEmpty == true)
    }

    @Test("$search finds words and phrases in any case")
    func search() throws {
        func names(_ search: String) throws -> Int { try data.page("Customers?$search=" + search).rows.count }
        #expect(try names("red") == 1 && names("\"wagon%20red\"") == 0 && names("\"Red%20Wagon\"") == 1)
        #expect(try names("red%20OR%20note") == 2 && names("NOT%20red") == 1 && names("re") == 0)
    }

    @Test("$compute names values that later options use")
    func compute() throws {
        let page = try data.page("Orders?$compute=Freight%20mul%202%20as%20Twice&$filter=Twice%20gt%2020&$select=Twice")
        #expect(
            page.rows.map { $0.properties.first?.value } == [
                .decimal(try #require(ODataDecimal("21"))), .decimal(try #require(ODataDecimal("40.5"))),
            ])
    }

    @Test("A registered function parses, binds, prints and runs")
    func registered() throws {
        let functions = FunctionRegistry(scalar: [
            ScalarFunction("App.Reversed", [.primitive(.string)], named: ["text"], returns: .primitive(.string)) {
                arguments in
                guard case .string(let text) = arguments[0] else { return .null }
                return .string(String(text.reversed()))
            }
        ])
        #expect(try orders("App.Reversed(ShipCity) eq 'nreB'", functions: functions) == [1, 4])
        #expect(try orders("App.Reversed(text=ShipCity) eq 'nreB'", functions: functions) == [1, 4])
        let tree = try CommonExpression(parsing: "App.Reversed(ShipCity) eq 'nreB'")
        #expect(try CommonExpression(parsing: tree.description) == tree)
        #expect(throws: QueryError.self) { try orders("App.Reversed(Freight) eq 'x'", functions: functions) }
        #expect(throws: QueryError.self) { try orders("App.Reversed(ShipCity,ShipCity) eq 'x'", functions: functions) }
    }

    @Test(
        "A function that stands for an expression may be used like any other function",
        arguments: [
            "F", "not F", "F in (true)", "case(F:1,true:0) eq 1", "cast(F,Edm.String) eq 'true'", "isof(F,Edm.Boolean)",
            "App.Not(F)", "App.Not(value=F)", "App.Not(value=F in (true))", "Customer/Orders/any(o:F)",
            "Customer/Orders/$count($filter=F) gt 1", "Customer/Orders/$filter(F)/$count gt 1",
        ])
    func expressions(form: String) throws {
        var functions = FunctionRegistry(scalar: [
            ScalarFunction("App.Not", [.primitive(.boolean)], named: ["value"], returns: .primitive(.boolean)) {
                $0[0] == .boolean(true) ? .boolean(false) : .boolean(true)
            }
        ])
        functions.register([
            "App.AreBoth": ExpressionFunction(parameterCount: 2) { .binary(.and, $0[0], $0[1]) }
        ])
        // A colon between two letters is within a word, by Unicode.
        let place = /\bF\b/.wordBoundaryKind(.simple)
        let call = form.replacing(place, with: "App.AreBoth(ShipCity ne 'Bern',OrderID lt 100)")
        let meaning = form.replacing(place, with: "(ShipCity ne 'Bern' and OrderID lt 100)")
        #expect(try orders(call, functions: functions) == orders(meaning, functions: functions))
        #expect(try orders("App.AreBoth(true,true)", functions: functions).count > 1)
        #expect(throws: QueryError.self) { try orders("App.AreBoth(true)", functions: functions) }
        #expect(throws: QueryError.self) { try orders("App.AreBoth(true,true)") }
    }

    @Test("Cross joins, keys as segments and filters in the path lead to rows")
    func resources() throws {
        #expect(
            try data.page("$crossjoin(Orders,Customers)?$filter=Orders/CustomerID%20eq%20Customers/CustomerID").rows
                .count == 3)
        #expect(try data.page("Orders/1/Items").rows.count == 2)
        #expect(try data.page("Orders/$filter(Freight%20gt%206)/$count").rows.count == 2)
        #expect(try data.page("Products/Shop.OldProduct").rows.count == 1)
        #expect(try data.page("Me/Reports").rows.count == 2)
        #expect(try data.page("Employees(Called='Bob')").rows.map { $0.property("ID") } == [2])
    }
}

extension String {
    fileprivate var addingURLEncoding: String { replacing("%", with: "%25").replacing("+", with: "%2B") }
}
