import ODataService
import OfflineOData
import Testing

@testable import ObjectAPI

@Suite("The provider of a package database")
struct ObjectProviderTests {
    @Test("has the capabilities of its store")
    func traits() async throws {
        let service = try await CrmService()
        let crm = try await CrmDatabase.open(at: service.path("traits"), DatabaseProfile(protection: .unencrypted))
        let (store, provider) = (crm.store.traits, ObjectProvider(base: crm.store).traits)
        #expect(provider.capabilities == store.capabilities)
        #expect(provider.supportsIsolation == store.supportsIsolation)
        #expect(provider.queryLanguage.urls === store.queryLanguage.urls)
        try crm.close()
    }
}
