// <karakuri-view scene="stand" time="1.5" camera="3,0,1,0,0,1" paused></karakuri-view>: the studio's picture in a page of documentation or a notebook.
//     <script type="module" src="…/karakuri-view.js"></script>
const base = new URL(".", import.meta.url);

class KarakuriView extends HTMLElement {
    static observedAttributes = ["scene", "time", "camera", "paused", "parameters"];
    #frame = document.createElement("iframe");

    connectedCallback() {
        this.style.display ||= "block";
        Object.assign(this.#frame.style, { border: "0", width: "100%", height: "100%", minHeight: "300px", borderRadius: "12px" });
        this.#frame.title = this.getAttribute("scene") ?? "Karakuri";
        this.#frame.loading = "lazy";
        this.#frame.src = this.address;
        (this.shadowRoot ?? this.attachShadow({ mode: "open" })).replaceChildren(this.#frame);
    }
    attributeChangedCallback() {
        if (this.isConnected && this.#frame.isConnected) {
            this.#frame.src = this.address;
        }
    }
    get address() {
        const query = new URLSearchParams();
        for (const [name, key] of [["time", "t"], ["camera", "camera"], ["parameters", "p"]]) {
            this.hasAttribute(name) && query.set(key, this.getAttribute(name));
        }
        this.hasAttribute("paused") && query.set("paused", "");
        return `${new URL("index.html", base)}?embed#${this.getAttribute("scene") ?? "stand"}?${query}`;
    }
}
customElements.define("karakuri-view", KarakuriView);
