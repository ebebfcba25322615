// Ships in a harbour, with the types that the plugin generates from odata-metadata.xml. The service is a store in
// memory; the same code runs over an online client (ODataClient) or an offline store (OfflineStore).
import ODataModel
import ODataService
import ODataStore

let store = try await StoreService.open(ServiceDefinition(model: HarbourMetadata.model), at: .memory)
let harbour = HarbourService(store)

// Creating: related entities go along, others are bound by their address.
let line = try await harbour.parties.cast(Company.self).create(
    Company {
        $0.id = ODataGuid.random()
        $0.name = "Fjord Line"
        $0.tags = ["ferries"]
    })
let fleet: [(name: String, length: ODataDecimal, dues: ODataDecimal)] = [
    ("Hurtig", 121.4, 1214), ("Fram", 39, 390), ("Bølgen", 88.25, 882.5),
]
for (name, length, dues) in fleet {
    var ship = Ship {
        $0.name = name
        $0.length = length
        $0.kind = .ferry
        $0.isLaidUp = false
        $0.anchors = []
    }
    var call = Call()
    call.year = 2026
    call.number = 1
    call.dues = dues
    ship.calls = [call]
    if let id = line.id { ship.bind(\.owner, to: harbour.parties.cast(Company.self).key(id)) }
    try await harbour.ships.create(ship)
}

// Reading: the compiler checks names and types, also across relations.
let long = harbour.ships
    .filter(\.length > 50 && \.owner.name == "Fjord Line")
    .expand(\.owner)
    .orderBy(\.length, descending: true)
    .top(10)
for ship in try await long.all() {
    print("\(ship.name ?? "?"): \(ship.length?.normalized.description ?? "?") m, of \(ship.owner?.name ?? "nobody")")
}
let costly = try await harbour.ships.filter { $0.calls.any { $0.dues > 1000 } }.count()
print("\(costly) ship paid more than 1000")

// Changing: only changed properties are sent.
let named = harbour.ships.filter { $0.name.startsWith("Fr") }
if var fram = try await named.first() {
    fram.isLaidUp = true
    print("sending \(fram.changedProperties.sorted())")
    try await harbour.ships.update(fram)
}
print("\(try await harbour.ships.filter(\.isLaidUp).count()) laid up")

// Types that derive from one another.
for party in try await harbour.parties.all() {
    if let company = party.as(Company.self) { print("\(company.name ?? "?") is a company") }
}
