import Foundation
import ODataCache
import ODataModel
import Secrets

func usesODataCache() async throws {
    let xml = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
        <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/></EntityType>
        <EntityContainer Name="Container"><EntitySet Name="Customers" EntityType="Shop.Customer"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
    let model = try CSDLReader.read(xml: Array(xml.utf8))
    let cache = MemoryEntityCache(model: model)
    let shape = try model.requiredShape(ofSet: "Customers")
    try await cache.store([ODataEntity(shape: shape, ["ID": 1, "Name": "Ann Berlin"])], in: "Customers")
    print(try await cache.search("berl", in: "Customers").count, "found")

    let folder = NSTemporaryDirectory() + "consumer-\(UUID().uuidString)"
    let store = PersistentStore(folder: folder, key: .given(.key(.generate())))
    try await store.save(cache, as: "customers")
    let loaded = MemoryEntityCache()
    for try await step in store.load("customers", into: loaded) { print(step) }
    try FileManager.default.removeItem(atPath: folder)
}
