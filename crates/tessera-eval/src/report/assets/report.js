"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // ---- plots: one figure per metric and picture, the menus show one of them
  const metric = byId("plot-metric");
  const picture = byId("plot-picture");
  const showPlot = () => {
    for (const figure of document.querySelectorAll("#plots figure")) {
      const wanted = figure.dataset.metric === metric.value && figure.dataset.picture === picture.value;
      figure.hidden = !wanted;
    }
  };
  metric.addEventListener("change", showPlot);
  picture.addEventListener("change", showPlot);
  showPlot();

  // ---- hover values: the dots' titles, shown at once for the dot nearest to the pointer
  const tip = byId("tip");
  const REACH = 24;
  let near = null;
  const forget = () => {
    if (near) near.classList.remove("near");
    near = null;
    tip.hidden = true;
  };
  const nearest = (svg, x, y) => {
    let best = null;
    let bestDistance = REACH;
    for (const dot of svg.querySelectorAll("circle")) {
      const box = dot.getBoundingClientRect();
      const distance = Math.hypot(box.x + box.width / 2 - x, box.y + box.height / 2 - y);
      if (distance < bestDistance) [best, bestDistance] = [dot, distance];
    }
    return best;
  };
  const placeTip = (x, y) => {
    tip.hidden = false;
    const right = Math.min(x + 14, window.innerWidth - tip.offsetWidth - 6);
    tip.style.left = `${Math.max(right, 6)}px`;
    tip.style.top = `${Math.max(y - tip.offsetHeight - 10, 6)}px`;
  };
  for (const dot of document.querySelectorAll("svg circle")) {
    const title = dot.querySelector("title");
    dot.dataset.tip = title.textContent;
    title.remove(); // the browser's own, slower tip would cover ours
  }
  for (const svg of document.querySelectorAll("figure > svg")) {
    svg.addEventListener("pointermove", (event) => {
      forget();
      near = nearest(svg, event.clientX, event.clientY);
      if (!near) return;
      near.classList.add("near");
      tip.textContent = near.dataset.tip;
      placeTip(event.clientX, event.clientY);
    });
    svg.addEventListener("pointerleave", forget);
  }

  // ---- viewer
  const data = byId("view-data");
  if (!data) return;
  const exhibits = JSON.parse(data.textContent);
  const choice = { picture: byId("view-picture"), left: byId("view-left"), right: byId("view-right"), zoom: byId("view-zoom") };
  const slider = byId("view-slider");
  const images = { left: byId("image-left"), right: byId("image-right"), original: byId("image-original") };
  const layers = images.left.parentElement;

  const slide = () => {
    const share = Number(slider.value);
    images.left.style.clipPath = `inset(0 ${100 - share}% 0 0)`;
    byId("divider").style.left = `${share}%`;
  };
  const show = (side, exhibit) => {
    const name = choice[side].value;
    const coded = exhibit.coded.find((one) => one.codec === name);
    images[side].src = coded ? coded.image : exhibit.original;
    const bpp = (bytes) => ((bytes * 8) / (exhibit.width * exhibit.height)).toFixed(3);
    byId(`caption-${side}`).textContent = coded
      ? `${name}, q ${coded.quality}: ${coded.bytes} bytes (${bpp(coded.bytes)} bpp); ${coded.values.join(", ")}`
      : "original";
  };
  const refresh = () => {
    const exhibit = exhibits.find((one) => one.picture === choice.picture.value);
    images.original.src = exhibit.original;
    show("left", exhibit);
    show("right", exhibit);
    const width = `${exhibit.width * Number(choice.zoom.value)}px`;
    for (const image of Object.values(images)) image.style.width = width;
    slide();
  };
  for (const select of Object.values(choice)) select.addEventListener("change", refresh);
  slider.addEventListener("input", slide);
  layers.addEventListener("pointermove", (event) => {
    if (event.buttons !== 1) return;
    const box = layers.getBoundingClientRect();
    slider.value = ((event.clientX - box.x) / box.width) * 100;
    slide();
  });
  layers.addEventListener("dragstart", (event) => event.preventDefault());

  // both panes show the same place
  const panes = [byId("pane-original"), byId("pane-compare")];
  panes.forEach((pane, i) => {
    pane.addEventListener("scroll", () => {
      const other = panes[1 - i];
      other.scrollLeft = pane.scrollLeft;
      other.scrollTop = pane.scrollTop;
    });
  });
  if (choice.right.options.length > 1) choice.right.selectedIndex = 1;
  refresh();
})();
