import ODataModel
import ODataQuery
import ODataService
import Testing

@Suite("Typed queries")
struct TypedQueryTests {
    let recorder = Recorder()
    var harbour: HarbourService { HarbourService(recorder) }

    private func text(_ query: TypedCollection<Ship>) -> String { query.query.url.description }

    @Test("5.1.1 Conditions are built from key paths and values of the property type")
    func filter() {
        #expect(text(harbour.ships.filter(\.length > 50)) == "Ships?$filter=Length gt 50")
        #expect(text(harbour.ships.filter(\.length >= 12.5)) == "Ships?$filter=Length ge 12.5")
        #expect(
            text(harbour.ships.filter(\.name == "Bö's" || \.isLaidUp == true))
                == "Ships?$filter=Name eq 'Bö''s' or IsLaidUp eq true")
        #expect(text(harbour.ships.filter(\.built == nil)) == "Ships?$filter=Built eq null")
        #expect(text(harbour.ships.filter(\.isLaidUp)) == "Ships?$filter=IsLaidUp")
        #expect(
            text(harbour.ships.filter(!(\.length < 3 && \.name != nil)))
                == "Ships?$filter=not (Length lt 3 and Name ne null)")
    }

    @Test("5.1.1.15 Paths lead through complex and navigation properties")
    func paths() {
        #expect(text(harbour.ships.filter(\.berth.quay == "East")) == "Ships?$filter=Berth/Quay eq 'East'")
        #expect(
            text(harbour.ships.filter(\.owner.vatNumber == "NO 1")) == "Ships?$filter=Owner/VATNumber eq 'NO 1'")
        #expect(text(harbour.ships.filter(\.arrived.year == 2026)) == "Ships?$filter=year(Arrived) eq 2026")
        #expect(text(harbour.ships.filter { $0.owner == nil }) == "Ships?$filter=Owner eq null")
    }

    @Test("Enumeration values are written by their members, and flags are combined")
    func enumerations() {
        #expect(text(harbour.ships.filter(\.kind == .passenger)) == "Ships?$filter=Kind eq Harbour.ShipKind'PASSENGER'")
        #expect(
            text(harbour.ships.filter { $0.needs.has([.water, .power]) })
                == "Ships?$filter=Needs has Harbour.Services'All'")
    }

    @Test("5.1.1.13 Lambda operators nest with distinct variables")
    func lambdas() {
        #expect(
            text(harbour.ships.filter { $0.calls.any { $0.dues > 100 && $0.year == 2026 } })
                == "Ships?$filter=Calls/any(x1:x1/Dues gt 100 and x1/Year eq 2026)")
        #expect(
            text(harbour.ships.filter { ship in ship.owner.fleet.any { $0.calls.all { $0.dues < 5 } } })
                == "Ships?$filter=Owner/Fleet/any(x1:x1/Calls/all(x2:x2/Dues lt 5))")
        #expect(text(harbour.ships.filter { $0.calls.count > 3 }) == "Ships?$filter=Calls/$count gt 3")
        #expect(
            text(harbour.ships.filter { $0.anchors.any { $0.number == 2 } })
                == "Ships?$filter=Anchors/any(x1:x1/Number eq 2)")
        #expect(
            harbour.parties.filter { $0.tags.contains("old") }.query.url.description
                == "Parties?$filter=Tags/any(x1:x1 eq 'old')")
    }

    @Test("11.2.6.7 All pages of an action's result are read")
    func pagesOfAction() async throws {
        let recorder = Recorder([
            ODataResponse(body: .page(EntityPage(nextLink: "Ships?$skiptoken=1"))),
            ODataResponse(body: .page(EntityPage())),
        ])
        #expect(try await HarbourService(recorder).ships.tow().isEmpty)
        #expect(
            recorder.requests.map { "\($0.method.rawValue) \($0.link ?? $0.url.description)" }
                == ["POST Ships/Harbour.Tow", "GET Ships?$skiptoken=1"])
    }

    @Test("Functions and arithmetic keep their types")
    func functions() {
        #expect(
            text(harbour.ships.filter { $0.name.lowercased.startsWith("b") && $0.length * 2 > 9 })
                == "Ships?$filter=startswith(tolower(Name),'b') and Length mul 2 gt 9")
        #expect(text(harbour.ships.filter { $0.name.isIn(["A", "B"]) }) == "Ships?$filter=Name in ('A','B')")
        #expect(text(harbour.ships.orderBy(\.name.length, descending: true)) == "Ships?$orderby=length(Name) desc")
    }

    @Test("5.1.2 to 5.1.5 The rest of a query: expand with options, select with the key, order, top and skip")
    func options() {
        let query = harbour.ships.filter(\.length > 50).expand(\.owner).expand(\.calls) {
            $0.filter(\.dues > 1).orderBy(\.year).top(3)
        }.select(\.name, \.length).orderBy(\.name).top(10).skip(5)
        #expect(
            text(query)
                == "Ships?$filter=Length gt 50&$orderby=Name&$skip=5&$top=10&$select=ShipID,Name,Length"
                + "&$expand=Owner,Calls($filter=Dues gt 1;$orderby=Year;$top=3)")
        #expect(
            harbour.master.expand(\.superior) { $0.levels(3) }.query.url.description
                == "Master?$expand=Superior($levels=3)")
    }

    @Test("4.3 Keys have named and typed parts, and navigation continues from an entity")
    func addresses() async throws {
        _ = try? await harbour.ships.key(7).calls.key(year: 2026, number: 3).get()
        #expect(recorder.last == "GET Ships(7)/Calls(Year=2026,Number=3)")
        _ = try await harbour.ships.key(7).crew.filter(\.name == "Ada").all()
        #expect(recorder.last == "GET Ships(7)/Crew?$filter=Name eq 'Ada'")
        _ = try? await harbour.ships.key(7).owner.get()
        #expect(recorder.last == "GET Ships(7)/Owner")
        _ = try await harbour.parties.cast(Person.self).filter(\.superior.name == "Bo").all()
        #expect(recorder.last == "GET Parties/Harbour.Person?$filter=Superior/Name eq 'Bo'")
    }

    @Test("11.5 Operations take typed parameters, bound to an entity, a collection or the service")
    func operations() async throws {
        _ = try? await harbour.ships.key(7).move(to: Position { $0.quay = "East" }, reason: "wind")
        let request = try #require(recorder.requests.last)
        #expect(recorder.last == "POST Ships(7)/Harbour.Move")
        guard case .parameters(let parameters) = request.body else {
            throw DataServiceError.unexpectedAnswer(expected: "")
        }
        #expect(Set(parameters.keys) == ["to", "Reason"])
        _ = try? await harbour.ships.key(7).move(to: Position())
        guard case .parameters(let fewer)? = recorder.requests.last?.body else {
            throw DataServiceError.unexpectedAnswer(expected: "")
        }
        #expect(fewer.keys.sorted() == ["to"], "an optional parameter is left out")

        _ = try? await harbour.ships.close()
        #expect(recorder.last == "POST Ships/Harbour.Close")
        _ = try await harbour.ships.key(7).similar(kind: .cargo).top(2).all()
        #expect(recorder.last == "GET Ships(7)/Harbour.Similar(kind=Harbour.ShipKind'Cargo')?$top=2")
        _ = try? await harbour.freeBerths(minLength: 12.5)
        #expect(recorder.last == "GET FreeBerths(minLength=12.5)")
        _ = try? await harbour.reset()
        #expect(recorder.last == "POST Reset")
        _ = try? await harbour.master.label()
        #expect(recorder.last == "GET Master/Harbour.Label()")
    }

    @Test("11.5 Operations are bound to complex values, their collections, and values without a structure")
    func operationsBoundToValues() async throws {
        let ship = harbour.ships.key(7)
        let place = Position {
            $0.quay = "East"; $0.number = 4
        }
        _ = try? await ship.berth.distance(to: place)
        #expect(
            recorder.last
                == #"GET Ships(7)/Berth/Harbour.Distance(to=@to)?@to={"Quay":"East","Number":4}"#)
        _ = try? await ship.berth.distance(to: place, unit: .cable)
        #expect(
            recorder.last
                == "GET Ships(7)/Berth/Harbour.Distance(to=@to,unit=Harbour.Unit'Cable')"
                + #"?@to={"Quay":"East","Number":4}"#)
        _ = try? await ship.berth.clear_(reasons: ["wind", nil])
        #expect(recorder.last == "POST Ships(7)/Berth/Harbour.Clear")
        guard case .parameters(let parameters)? = recorder.requests.last?.body else {
            throw DataServiceError.unexpectedAnswer(expected: "parameters")
        }
        #expect(parameters == ["reasons": .collection(["wind", .null])])
        _ = try? await ship.berth.clear_()
        guard case .none? = recorder.requests.last?.body else {
            throw DataServiceError.unexpectedAnswer(expected: "no body")
        }
        _ = try? await ship.anchors.nearest(kinds: [.cargo, .passenger])
        #expect(
            recorder.last == #"GET Ships(7)/Anchors/Harbour.Nearest(kinds=@kinds)?@kinds=["Cargo","PASSENGER"]"#,
            "members of enumerations go by name")
        _ = try? await ship.draughts.mean()
        #expect(recorder.last == "GET Ships(7)/Draughts/Harbour.Mean()")
        _ = try? await ship.length.inFeet()
        #expect(recorder.last == "GET Ships(7)/Length/Harbour.InFeet()")
        _ = try? await ship.kind.successors()
        #expect(recorder.last == "GET Ships(7)/Kind/Harbour.Successors()")
        let marked = ValueRequest<MarkedPosition>(harbour.odataService, ship.berth.query)
        _ = try? await marked.paint()
        #expect(recorder.last == "GET Ships(7)/Berth/Harbour.Paint()")
        _ = try? await marked.distance(to: place)
        #expect(recorder.last.hasPrefix("GET Ships(7)/Berth/Harbour.Distance(to=@to)?"), "a derived type has it too")
        _ = try? await ship.owner.fleet.key(8).berth.number.get()
        #expect(recorder.last == "GET Ships(7)/Owner/Fleet(8)/Berth/Number")
    }

    @Test("11.5 Operations return null members, streams, entities, or nothing")
    func operationResults() async throws {
        let values = ODataResponse(body: .value(.collection(["new", .null]), .collection(.primitive(.string))))
        let stream = ODataResponse(body: .raw(ByteStream([1, 2]), contentType: "image/png"))
        let kinds = ODataResponse(
            body: .value(.collection([.enumeration(9), .null]), .collection(.enumeration(ShipKind.typeName))))
        let answers = [values, stream, ODataResponse(status: 204), kinds, ODataResponse(status: 204)]
        let harbour = HarbourService(Recorder(answers))
        #expect(try await harbour.ships.key(7).remarks() == ["new", nil])
        let plan = try #require(try await harbour.ships.key(7).plan())
        #expect(plan.contentType == "image/png")
        #expect(try await plan.0.collect(limit: 10) == [1, 2])
        #expect(try await harbour.ships.key(7).plan() == nil)
        #expect(try await harbour.ships.key(7).kind.successors() == [.none_])
        #expect(try await harbour.oldest().get() == nil)
        let wrong = HarbourService(Recorder([ODataResponse(body: .count(3))]))
        await #expect(throws: DataServiceError.self) { try await wrong.ships.key(7).kind.successors() }
    }

    @Test("Streams have their own requests for reading and writing")
    func streams() async throws {
        _ = try? await harbour.photos.key(1).media()
        #expect(recorder.last == "GET Photos(1)/$value")
        _ = try? await harbour.ships.key(7).stream(\.blueprint)
        #expect(recorder.last == "GET Ships(7)/Blueprint")
        try? await harbour.ships.key(7).setStream(\.blueprint, ByteStream([1]), contentType: "image/png")
        #expect(recorder.last == "PUT Ships(7)/Blueprint")
    }
}
