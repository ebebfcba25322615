import ODataModel
import ODataService
import Testing

@testable import ODataSQL

@Suite("$apply as SQL")
struct ApplyTests {
    let traders: Traders

    init() throws { traders = try Traders() }

    private func rows(_ apply: String) async throws -> [String] {
        try await traders.page(apply).entities.map { entity in
            let declared = zip(entity.shape.properties, entity.values).map { "\($0.name)=\($1?.lexicalText ?? "null")" }
            let dynamic = entity.dynamicProperties.sorted { $0.key < $1.key }
                .map { "\($0.key)=\($0.value.lexicalText ?? "null")" }
            return (declared + dynamic).joined(separator: " ")
        }
    }

    @Test("3.1 Aggregates are exact and ignore nulls")
    func aggregates() async throws {
        #expect(
            try await rows("Orders?$apply=aggregate(Freight with sum as S,Freight with average as A,$count as N)")
                == ["S=109.09 A=27.2725 N=5"])
        #expect(
            try await rows("Items?$apply=aggregate(Price with sum as S,Price with max as M,Quantity with sum as Q)")
                == ["S=32.49 M=19.99 Q=16"])
        #expect(
            try await rows("Items?$apply=aggregate(Price mul Quantity with sum as Total)") == ["Total=232.4"])
        #expect(
            try await rows("Orders?$apply=aggregate(CustomerID with countdistinct as C,Placed with countdistinct as P)")
                == ["C=3 P=2"])
        #expect(
            try await rows("Orders?$apply=filter(OrderID gt 99)/aggregate(Freight with sum as S,$count as N)")
                == ["S=null N=0"])
        #expect(try await rows("Orders?$apply=aggregate(Weight with sum as S)") == ["S=12345678901234567889.8"])
    }

    @Test("3.2.1.1 An entity counts once in a group, even if several rows lead to it")
    func once() async throws {
        #expect(
            try await rows(
                "Employees?$apply=aggregate(Manager/ID with sum as S,Manager/ID with average as A,ID with sum as T)")
                == ["S=3 A=1.5 T=10"])
        #expect(
            try await rows("Employees?$apply=groupby((Boss),aggregate(Manager/ID with sum as S))&$orderby=Boss")
                == ["Boss=null S=null", "Boss=1 S=1", "Boss=2 S=2"])
        #expect(
            try await rows("Employees?$apply=aggregate(Manager/ID with sum from Boss with sum as S)") == ["S=3"])
        #expect(try await rows("Employees?$apply=aggregate(Reports/Manager/ID with sum as S)") == ["S=3"])
        #expect(
            try await rows(
                "$crossjoin(Employees,Orders)?$apply=filter(Employees/ID lt 3)/groupby((Employees/Boss),"
                    + "aggregate(Orders/Freight with sum as S,Employees/ID with sum as T))&$orderby=T")
                == ["Employees/Boss=null S=109.09 T=1", "Employees/Boss=1 S=109.09 T=2"])
        // An expression is evaluated for each row.
        #expect(try await rows("Employees?$apply=aggregate(Manager/ID mul 1 with sum as S)") == ["S=4"])
        #expect(
            try await traders.keys("Employees?$filter=Reports/aggregate(Manager/ID with sum) eq ID") == ["1", "2"])
    }

    @Test("3.10 Groups by navigation paths, then filtered, computed, ordered and cut")
    func groups() async throws {
        #expect(
            try await rows("Orders?$apply=groupby((Customer/Country),aggregate(Freight with sum as S))&$orderby=S desc")
                == [
                    "Customer/Country=germany S=65", "Customer/Country=Germany S=43.99", "Customer/Country=null S=0.1",
                    "Customer/Country=USA S=null",
                ])
        #expect(
            try await rows(
                "Orders?$apply=filter(CustomerID ne null)/groupby((CustomerID),aggregate($count as N))/"
                    + "filter(N gt 0)/orderby(N desc,CustomerID)/top(2)") == ["CustomerID=A N=2", "CustomerID=B N=1"])
        #expect(
            try await rows(
                "Items?$apply=compute(Price mul Quantity as T)/groupby((OrderID),aggregate(T with sum as S))")
                == ["OrderID=1 S=32.5", "OrderID=2 S=199.9", "OrderID=4 S=null"])
        #expect(
            try await rows("Orders?$apply=groupby((CustomerID))&$filter=CustomerID ge 'B'") == [
                "CustomerID=B", "CustomerID=D",
            ])
    }

    @Test("top, skip and filter are applied in their order")
    func order() async throws {
        #expect(
            try await traders.keys("Orders?$apply=orderby(OrderID desc)/top(3)/filter(OrderID lt 5)") == ["4", "3"])
        #expect(try await traders.keys("Orders?$apply=orderby(OrderID)/skip(2)/top(2)") == ["3", "4"])
        #expect(try await traders.keys("Orders?$apply=top(2)&$orderby=OrderID desc") == ["2", "1"])
        #expect(try await traders.keys("Orders?$apply=identity/filter(OrderID lt 3)&$skip=1") == ["2"])
    }

    @Test("$compute names values that $filter, $orderby and $select use")
    func compute() async throws {
        let page = try await traders.page(
            "Orders?$compute=OrderID mul 2 as Twice&$filter=Twice gt 4&$orderby=Twice desc&$select=OrderID,Twice")
        #expect(page.entities.map { $0["Twice"] } == [10, 8, 6])
    }

    /// Returns the rows of a request as JSON without control information.
    private func json(_ url: String) async throws -> String {
        let text = try await traders.json(url, format: ResponseFormat(metadata: .none))
        return String(text.dropFirst(#"{"value":["#.count).dropLast(2))
    }

    @Test("3.3.1 Ranked transformations keep the rows up to the amount, in rank order")
    func ranks() async throws {
        #expect(try await traders.keys("Orders?$apply=topcount(2,Freight)") == ["3", "1"])
        #expect(try await traders.keys("Orders?$apply=bottomcount(2,Freight)") == ["4", "5"])
        #expect(try await traders.keys("Orders?$apply=topsum(70,Freight)") == ["3", "1"])
        #expect(try await traders.keys("Orders?$apply=toppercent(50,Freight)") == ["3"])
        #expect(try await traders.keys("Orders?$apply=bottomsum(0.05,Freight)") == ["4", "5"])
        #expect(try await traders.keys("Orders?$apply=topcount(3,Freight)/orderby(OrderID)&$top=1") == ["1"])
    }

    @Test("3.2.2 concat keeps the structure of each row (rule 22)")
    func concat() async throws {
        #expect(
            try await json(
                "Orders?$apply=concat(groupby((CustomerID),aggregate($count as N)),aggregate($count as N))&$orderby=N desc"
            )
                == #"{"N":5},{"CustomerID":"A","N":2},{"CustomerID":null,"N":1},{"CustomerID":"B","N":1},{"CustomerID":"D","N":1}"#
        )
        #expect(
            try await json(
                "Orders?$apply=concat(filter(OrderID eq 4),aggregate(Freight with max as M))&$select=OrderID,M")
                == #"{"OrderID":4},{"M":65}"#)
        #expect(
            try await json("Items?$apply=concat(aggregate(Price with sum as V),aggregate(Quantity with sum as V))")
                == #"{"V":32.49},{"V":16}"#)
    }

    @Test("3.2.3.2 rollup adds the rows of each level, also for a case-insensitive column")
    func rollup() async throws {
        #expect(
            try await json(
                "Orders?$apply=groupby((rollup(Customer/Country,CustomerID)),aggregate(Freight with sum as S))"
                    + "/filter(CustomerID ne null or S gt 50)")
                == #"{"Customer":{"Country":"Germany"},"CustomerID":"A","S":43.99},"#
                + #"{"Customer":{"Country":"USA"},"CustomerID":"D","S":null},"#
                + #"{"Customer":{"Country":"germany"},"CustomerID":"B","S":65},"#
                + #"{"Customer":{"Country":"germany"},"S":65}"#)
    }

    @Test("3.2.3.1 Transformations apply to each group, and empty groups keep their aggregates")
    func groupsApplying() async throws {
        #expect(
            try await json(
                "Orders?$apply=groupby((CustomerID),filter(Freight gt 20)/aggregate(Freight with sum as S,$count as N))"
            )
                == #"{"CustomerID":null,"S":null,"N":0},{"CustomerID":"A","S":32.38,"N":1},"#
                + #"{"CustomerID":"B","S":65,"N":1},{"CustomerID":"D","S":null,"N":0}"#)
        #expect(
            try await json(
                "Orders?$apply=groupby((CustomerID),topcount(1,Freight))/filter(Freight gt 1)&$orderby=OrderID&$select=OrderID"
            ) == #"{"OrderID":1},{"OrderID":3}"#)
        #expect(
            try await json(
                "Orders?$apply=groupby((Customer/Country),topcount(1,Freight)/aggregate(Freight with sum as S))")
                == #"{"Customer":{"Country":null},"S":0.1},{"Customer":{"Country":"Germany"},"S":32.38},"#
                + #"{"Customer":{"Country":"USA"},"S":null},{"Customer":{"Country":"germany"},"S":65}"#)
    }

    @Test("3.2.1.1 Aggregates over collection-valued paths count each entity once")
    func members() async throws {
        #expect(
            try await json("Customers?$apply=aggregate(Orders/Freight with sum as S,Orders/$count as N,$count as C)")
                == #"{"S":108.99,"N":4,"C":4}"#)
        #expect(
            try await json(
                "Customers?$apply=groupby((Country),aggregate(Orders/Freight with sum as S,Orders/$count as N))")
                == #"{"Country":null,"S":null,"N":0},{"Country":"Germany","S":43.99,"N":2},"#
                + #"{"Country":"USA","S":null,"N":1},{"Country":"germany","S":65,"N":1}"#)
        #expect(try await json("Customers?$apply=aggregate(Orders/Items/Price with sum as S)") == #"{"S":32.49}"#)
        #expect(try await json("Customers?$apply=aggregate(Friends/$count as N)") == #"{"N":3}"#)
        #expect(
            try await json("Items?$apply=aggregate(Price with sum from OrderID with average as A)") == #"{"A":16.245}"#)
    }

    @Test("3.5.1 join and outerjoin give related rows a name")
    func joins() async throws {
        #expect(
            try await json(
                "Customers?$apply=join(Orders as Order)/groupby((Country),aggregate(Order/Freight with sum as S))")
                == #"{"Country":"Germany","S":43.99},{"Country":"USA","S":null},{"Country":"germany","S":65}"#)
        #expect(
            try await json("Customers?$apply=outerjoin(Orders as O,filter(Freight gt 20))/groupby((ID,O/OrderID))")
                == #"{"ID":"A","O":{"OrderID":1}},{"ID":"B","O":{"OrderID":3}},{"ID":"C","O":{"OrderID":null}},"#
                + #"{"ID":"D","O":{"OrderID":null}}"#)
        #expect(
            try await json("Employees?$apply=outerjoin(Reports as R,aggregate($count as N))")
                == #"{"ID":1,"Boss":null,"R":{"N":2}},{"ID":2,"Boss":1,"R":{"N":1}},{"ID":3,"Boss":1,"R":{"N":0}},"#
                + #"{"ID":4,"Boss":2,"R":{"N":0}}"#)
    }

    @Test("6.2 Hierarchies are recursive common tables (rule 22)")
    func hierarchies() async throws {
        let nodes = "$root/Employees,Staff,ID"
        #expect(
            try await traders.keys("Employees?$apply=descendants(\(nodes),filter(ID eq 2),keep start)") == ["2", "4"])
        #expect(try await traders.keys("Employees?$apply=descendants(\(nodes),filter(ID eq 1),1)") == ["2", "3"])
        #expect(try await traders.keys("Employees?$apply=ancestors(\(nodes),filter(ID eq 4))") == ["1", "2"])
        #expect(try await traders.keys("Employees?$apply=traverse(\(nodes),preorder,ID desc)") == ["1", "3", "2", "4"])
        #expect(try await traders.keys("Employees?$apply=traverse(\(nodes),postorder)") == ["4", "2", "3", "1"])
        let sql = try traders.compile("Employees?$apply=descendants(\(nodes),filter(ID eq 2))").sql
        #expect(sql.hasPrefix("WITH RECURSIVE"))
    }

    @Test("5.5.2.1 Each row is tested against one node or a column")
    func nodeTests() async throws {
        let staff = "HierarchyNodes=$root/Employees,HierarchyQualifier='Staff'"
        for (call, expected) in [
            ("isdescendant(\(staff),Node=ID,Ancestor=1,MaxDistance=1)", ["2", "3"]),
            ("isancestor(\(staff),Node=Boss,Descendant=ID)", ["2", "3", "4"]),
            ("isleaf(\(staff),Node=ID)", ["3", "4"]),
            ("issibling(\(staff),Node=ID,Other=2)", ["3"]), ("isroot(\(staff),Node=Boss)", ["2", "3"]),
        ] {
            #expect(try await traders.keys("Employees?$filter=Aggregation.\(call)") == expected, "\(call)")
        }
    }

    @Test("3.5.2 nest contains joined rows and rows of several kinds")
    func nestedKinds() async throws {
        let text = try await json(
            "Employees?$apply=nest(join(Reports as R,filter(ID le 2)) as J,concat(topcount(1,ID),aggregate($count as N)) as K)"
        )
        #expect(text == #"{"J":[{"Boss":null,"ID":1,"R":{"Boss":1,"ID":2}}],"K":[{"Boss":2,"ID":4},{"N":4}]}"#)
    }

    @Test("6.3 rolluprecursive groups by each node with its descendants")
    func nodes() async throws {
        let staff = "$root/Employees,Staff,ID"
        #expect(
            try await json(
                "Employees?$apply=groupby((rolluprecursive(\(staff))),aggregate($count as N))/compute(N sub 1 as Below)"
                    + "&$select=ID,Below&$expand=Manager($select=ID)")
                == #"{"ID":1,"Below":3,"Manager":null},{"ID":2,"Below":1,"Manager":{"ID":1}},"#
                + #"{"ID":3,"Below":0,"Manager":{"ID":1}},{"ID":4,"Below":0,"Manager":{"ID":2}}"#)
        // Rows of excluded nodes still count for the nodes above them.
        let some = "ancestors(\(staff),filter(ID eq 4),keep start)"
        #expect(
            try await json("Employees?$apply=groupby((rolluprecursive(\(staff),\(some))),aggregate($count as N))")
                == #"{"ID":1,"Boss":null,"N":4},{"ID":2,"Boss":1,"N":2},{"ID":4,"Boss":2,"N":1}"#)
        let order = "traverse(\(staff),postorder)"
        #expect(
            try await json(
                "Employees?$apply=groupby((rolluprecursive(\(staff),\(order))),aggregate($count as N))&$select=ID")
                == #"{"ID":4},{"ID":2},{"ID":3},{"ID":1}"#)
    }

    @Test("6.3 rolluprecursive through navigation puts the node under the navigation property")
    func relatedNodes() async throws {
        let manager = "rolluprecursive($root/Employees,Staff,Manager/ID)"
        #expect(
            try await json("Employees?$apply=groupby((\(manager)),aggregate($count as N))")
                == #"{"N":3,"Manager":{"ID":1,"Boss":null}},{"N":1,"Manager":{"ID":2,"Boss":1}},"#
                + #"{"N":0,"Manager":{"ID":3,"Boss":1}},{"N":0,"Manager":{"ID":4,"Boss":2}}"#)
        #expect(
            try await json(
                "Employees?$apply=groupby((\(manager)),compute(case(Manager eq Aggregation.rollupnode():ID) as Own)/"
                    + "aggregate(ID with sum as All,Own with sum as Sum))/filter(Manager/ID le 2)&$select=All,Sum")
                == #"{"All":9,"Sum":5},{"All":4,"Sum":4}"#)
        #expect(
            try await json(
                "Employees?$apply=groupby((\(manager),rolluprecursive($root/Employees,Staff,ID)),aggregate($count as N))"
                    + "/filter(N gt 0)&$select=ID,N")
                == #"{"ID":1,"N":3},{"ID":2,"N":2},{"ID":3,"N":1},{"ID":4,"N":1},{"ID":1,"N":1},{"ID":2,"N":1},"#
                + #"{"ID":4,"N":1}"#)
    }

    @Test("$apply within $expand applies to the rows of each parent (rule 22)")
    func expanded() async throws {
        #expect(
            try await json("Customers?$select=ID&$expand=Orders($apply=aggregate(Freight with sum as S,$count as N))")
                == #"{"ID":"A","Orders":[{"S":43.99,"N":2}]},{"ID":"B","Orders":[{"S":65,"N":1}]},"#
                + #"{"ID":"C","Orders":[{"S":null,"N":0}]},{"ID":"D","Orders":[{"S":null,"N":1}]}"#)
        #expect(
            try await json(
                "Customers?$select=ID&$filter=ID eq 'A'&$expand=Orders($apply=topcount(1,Freight);$select=OrderID)")
                == #"{"ID":"A","Orders":[{"OrderID":1}]}"#)
    }

    @Test("A sum beyond 64 bits is a typed error, not a rounded number (rule 19)")
    func overflow() async throws {
        let error = await #expect(throws: ODataError.self) {
            _ = try await rows("Orders?$apply=aggregate(OrderID mul 4611686018427387904 with sum as S)")
        }
        #expect(error?.status == 400)
    }
}
