import OfflineOData
import Testing

@Suite("Groups of options")
struct OptionGroupTests {
    private func names(of options: Any) -> [String] { Mirror(reflecting: options).children.compactMap(\.label) }

    @Test("The options of a store are four groups and nothing else")
    func groups() {
        #expect(names(of: OfflineStore.Options()) == ["creation", "sync", "service", "runtime"])
    }

    @Test("Each option is in one group")
    func options() {
        let options = OfflineStore.Options()
        let groups = [
            names(of: options.creation), names(of: options.sync), names(of: options.service),
            names(of: options.runtime),
        ]
        #expect(
            groups[0] == [
                "collation", "isCaseSensitive", "clientOnlyModel", "purgesClientOnlyData", "localDrafts", "indexes",
                "indexedTypes", "requiresMaxLengthOfKeys", "downloadsEntitySetsByDefault", "downloadsStreamsByDefault",
            ])
        #expect(
            groups[1] == [
                "downloadPageSize", "downloadLimits", "parallelQueries", "batchesDefiningQueries",
                "definingQueryFormat",
                "deltaQueryFormat", "refusesUnreadableValues", "conflictPolicies", "localChangeExpiry",
                "populatesGeneratedValuesEarly", "undoesLocalCreation", "revertsErrorsTogether",
            ])
        #expect(groups[2] == ["capabilities", "assumedOffset", "contentIDLocation"])
        #expect(
            groups[3] == ["database", "localPageSize", "environment", "incarnations", "meter", "observer", "trace"])
        #expect(Set(groups.joined()).count == groups.joined().count, "an option has two places")
    }
}
